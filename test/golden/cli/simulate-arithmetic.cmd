seccompress simulate --arch x86_64 --stack --syscalls read,uname bpf:arithmetic.bpf
