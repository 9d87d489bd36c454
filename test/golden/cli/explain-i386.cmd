seccompress explain --arch x86_64 --call-arch i386 arguments.json -- personality -1
