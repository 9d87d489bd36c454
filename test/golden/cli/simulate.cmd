seccompress simulate --arch x86_64 --syscalls uname,umask,getpid dir:stack
