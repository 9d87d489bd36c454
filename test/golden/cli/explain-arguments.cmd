seccompress explain --arch x86_64 arguments.json -- personality
