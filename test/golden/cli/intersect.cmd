seccompress intersect -f asm no-uname.bpf no-uname.bpf
