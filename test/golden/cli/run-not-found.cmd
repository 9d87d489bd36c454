seccompress run bpf:allow.bpf -- no-such-command-at-all
