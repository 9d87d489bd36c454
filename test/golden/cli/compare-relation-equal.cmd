seccompress compare --left bpf:relation.bpf --right bpf:relation-twice.bpf
