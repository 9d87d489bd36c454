seccompress flatten --fast allow.bpf
