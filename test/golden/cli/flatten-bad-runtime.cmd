seccompress flatten allow.bpf --runtime lxc
