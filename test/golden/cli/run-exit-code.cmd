seccompress run bpf:no-uname.bpf -- sh -c "exit 7"
