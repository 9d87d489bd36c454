seccompress compare --ignore-data --left no-uname.bpf --right no-uname-38.bpf
