seccompress simulate --arch x86_64 --cache-report --nr-syscalls 3 --exempt 1 bpf:no-uname.bpf
