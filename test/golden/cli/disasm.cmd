seccompress disasm no-uname.bpf
