many() { python3 -c '
import json
rules = [{"names": ["ioctl"], "action": "SCMP_ACT_ERRNO", "errnoRet": 25,
          "args": [{"index": 1, "value": i * 2654435761 % 2**32, "op": "SCMP_CMP_EQ"}]} for i in range(4000)]
print(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}))'; }
numbers() { sed -E 's/~?[0-9][0-9,.]*/N/g; s/ +/ /g'; }
many > many.json
seccompress inspect --arch x86_64 --kernel 6.1 --lint=off oci:many.json | numbers
seccompress inspect --arch x86_64 --kernel 6.1 bpf:notify-uname.bpf bpf:notify-umask.bpf | grep -v cache
seccompress inspect --arch x86_64 --kernel 6.1 --json bpf:notify-uname.bpf bpf:notify-umask.bpf | python3 -c '
import json, sys
report = json.load(sys.stdin)
print(report["after"]["filters"], report["after"]["instructions"], report["why_several"])'
