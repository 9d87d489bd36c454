seccompress compare --left pid:999999999 --right bpf:allow.bpf
