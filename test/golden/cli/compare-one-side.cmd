seccompress compare --left no-uname.bpf
