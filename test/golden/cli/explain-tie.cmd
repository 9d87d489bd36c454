seccompress explain --arch x86_64 bpf:no-uname.bpf bpf:no-uname-38.bpf -- uname
