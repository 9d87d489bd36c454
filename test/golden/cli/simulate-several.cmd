python3 -c '
import json
rules = [{"names": ["ioctl"], "action": "SCMP_ACT_ERRNO", "errnoRet": 25,
          "args": [{"index": 1, "value": i * 2654435761 % 2**32, "op": "SCMP_CMP_EQ"}]} for i in range(4000)]
print(json.dumps({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": rules}))' > many.json
seccompress simulate --arch x86_64 --lint=off --syscalls ioctl,read oci:many.json | sed -E 's/ +[0-9]+ +[0-9]+ +([0-9]+ +(yes|no))/ N N \1/; s/ +/ /g'
seccompress simulate --arch x86_64 --syscalls uname,umask,read bpf:notify-uname.bpf bpf:notify-umask.bpf
seccompress simulate --arch x86_64 --stack --json --syscalls uname bpf:notify-uname.bpf bpf:notify-umask.bpf | grep -E 'programs|why|verdict'
seccompress disasm --lint=off oci:many.json | grep program
