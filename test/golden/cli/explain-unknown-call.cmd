seccompress explain --arch x86_64 arguments.json -- no_such_call
