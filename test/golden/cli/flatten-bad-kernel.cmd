seccompress flatten allow.bpf --kernel six
