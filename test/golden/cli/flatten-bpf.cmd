seccompress flatten no-uname.bpf | od -An -tx1
