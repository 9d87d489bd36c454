seccompress simulate --arch x86_64 --syscalls uname,umask,getpid dir:stack | sed -E 's/ +[0-9]+ +[0-9]+ +([0-9]+ +(yes|no))/ N N \1/; s/ +/ /g'
