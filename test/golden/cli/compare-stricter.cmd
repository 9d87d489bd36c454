seccompress compare --left no-uname.bpf --right allow.bpf
