seccompress compare --left no-uname.bpf --right no-uname-38.bpf
