seccompress simulate --arch x86_64 --kernel 5.4 --cache-report bpf:no-uname.bpf
