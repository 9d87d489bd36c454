seccompress --help
