seccompress inspect --arch x86_64 --kernel 6.1 bpf:relation.bpf bpf:relation-twice.bpf bpf:relation-stricter.bpf | sed -E 's/~?[0-9][0-9,.]*/N/g; s/ +/ /g'
