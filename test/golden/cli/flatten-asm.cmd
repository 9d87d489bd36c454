seccompress flatten -f asm no-uname.bpf no-uname.bpf
