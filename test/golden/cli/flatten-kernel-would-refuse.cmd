seccompress flatten bpf:bad-jump.bpf
