seccompress flatten bpf:arithmetic.bpf
