seccompress flatten bpf:notify-uname.bpf bpf:notify-umask.bpf -o out; code=$?; test -e out && echo "out is there"; exit $code
