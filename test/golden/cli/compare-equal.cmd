seccompress compare --left no-uname.bpf no-umask.bpf --right dir:stack
