seccompress flatten dir:stack no-umask.bpf profile.json -o out.bpf | sed 's/^= one program .*proved/= one program  ... proved/'
