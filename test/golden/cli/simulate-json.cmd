seccompress simulate --arch x86_64 --kernel 6.1 --json --syscalls uname dir:stack | grep -Ev 'libseccomp|executed'
