eight=$(for i in 1 2 3 4 5 6 7 8; do echo bpf:notify-uname.bpf; done)
seccompress simulate --arch x86_64 $eight; echo $?
seccompress inspect --arch x86_64 $eight
