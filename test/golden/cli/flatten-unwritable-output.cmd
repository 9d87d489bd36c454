seccompress flatten allow.bpf -o nowhere/out.bpf
