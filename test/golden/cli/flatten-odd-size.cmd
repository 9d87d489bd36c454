seccompress flatten bpf:odd-size.bpf
