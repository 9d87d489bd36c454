seccompress simulate --arch x86_64 --stack --syscalls uname,umask,63 dir:stack
