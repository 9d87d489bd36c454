seccompress dump 1
