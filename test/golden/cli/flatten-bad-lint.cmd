seccompress flatten allow.bpf --lint loud
