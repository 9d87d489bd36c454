seccompress flatten allow.bpf --arch z80
