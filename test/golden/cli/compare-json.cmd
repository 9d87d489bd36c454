seccompress compare --json --left no-uname.bpf --right no-umask.bpf | sed -n '/"order"/,/"diagnostics"/p'; seccompress compare --json --left no-uname.bpf --right no-umask.bpf >/dev/null
