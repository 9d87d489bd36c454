seccompress run bpf:no-uname.bpf -- uname 2>/dev/null
