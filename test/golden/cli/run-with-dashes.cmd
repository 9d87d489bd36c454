seccompress run bpf:allow.bpf -- echo -- --json
