seccompress compare --left no-uname.bpf --right no-umask.bpf
