seccompress flatten -f asm bpf:arithmetic.bpf
