seccompress flatten -f elf allow.bpf
