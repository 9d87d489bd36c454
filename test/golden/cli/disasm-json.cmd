seccompress disasm --json allow.bpf
