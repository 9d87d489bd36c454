seccompress explain --arch x86_64 bpf:relation.bpf -- fcntl 3 3
