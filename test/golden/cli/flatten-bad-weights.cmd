seccompress flatten allow.bpf --weights bad-weights.tsv
