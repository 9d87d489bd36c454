seccompress flatten allow.bpf -f asm --timings 2>&1 >/dev/null | sed 's/ [0-9][0-9]*/ N/g'
