seccompress flatten -f c no-uname.bpf
