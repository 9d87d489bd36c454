seccompress explain --arch x86_64 arguments.json -- clone _ -1
