seccompress run bpf:allow.bpf
