seccompress compare --left allow.bpf --right profile.json --arch x86_64
