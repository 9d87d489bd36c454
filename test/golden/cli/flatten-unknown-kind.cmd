seccompress flatten elf:allow.bpf
