seccompress flatten -f base64 no-uname.bpf
