seccompress explain --arch x86_64 bpf:relation.bpf bpf:relation-stricter.bpf -- fcntl
