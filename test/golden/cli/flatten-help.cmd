seccompress flatten --help
