seccompress flatten -q bpf:no-uname.bpf -o out.bpf && wc -c < out.bpf
