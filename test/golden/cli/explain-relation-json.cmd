seccompress explain --arch x86_64 bpf:relation.bpf --json -- fcntl 3 | sed '/"diagnostics"/,$d'
