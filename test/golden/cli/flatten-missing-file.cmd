seccompress flatten bpf:nowhere.bpf
