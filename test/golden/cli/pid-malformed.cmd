seccompress flatten pid:x
