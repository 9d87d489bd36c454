seccompress flatten -f json bpf:relation.bpf | grep -o '"proved": [a-z]*'
