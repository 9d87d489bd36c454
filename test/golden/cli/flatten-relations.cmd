seccompress flatten -f json bpf:relation.bpf bpf:relation-twice.bpf bpf:relation-stricter.bpf | grep -o '"proved": [a-z]*\|"implied": [a-z]*\|"redundant": [a-z]*\|"duplicate_of": .*'
