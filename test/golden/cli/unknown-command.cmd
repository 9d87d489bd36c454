seccompress squash allow.bpf
