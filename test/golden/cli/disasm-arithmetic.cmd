seccompress disasm bpf:arithmetic.bpf
