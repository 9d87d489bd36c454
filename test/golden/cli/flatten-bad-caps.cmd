seccompress flatten allow.bpf --caps CAP_FLY
