seccompress explain --arch x86_64 arguments.json -- personality 0x20000
