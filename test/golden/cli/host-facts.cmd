facts() { python3 -c 'import json, sys; print(json.dumps(json.load(open(sys.argv[1]))["host"], sort_keys=True))' "$1"; }
seccompress flatten -q -f json --arch x86_64 --kernel 5.10 --caps chown --systemd-version 254 x.service >report.json
# The report pins what it was made with; an option beats it.
seccompress flatten -q -f json --host-facts report.json x.service >again.json
facts report.json | sed 's/"libseccomp": "[^"]*", //'
[ "$(facts report.json)" = "$(facts again.json)" ] && echo the same facts
seccompress flatten -q -f json --host-facts report.json --kernel 6.6 x.service >other.json
facts other.json | grep -o '"kernel": "[0-9.]*"'
# Groups that differ from this build's table are told as the difference and taken back.
sed 's/"groups_differ": \[\]/"groups_differ": ["+@clock uname", "-@clock adjtimex"]/' report.json >differ.json
printf '[Service]\nSystemCallFilter=~@clock\nSystemCallErrorNumber=EPERM\n' >clock.service
for file in report.json differ.json; do
  for call in uname adjtimex; do
    seccompress explain -q --host-facts $file clock.service -- $call | head -1
  done
done
# Layers that are no units do not ask for a systemd.
seccompress flatten -q -f json --arch x86_64 --kernel 6.1 profile.json >profile-report.json
facts profile-report.json | grep -o '"systemd": null'
echo 'read 1' >weights.tsv
seccompress flatten -q --host-facts report.json --weights weights.tsv x.service -f asm; echo "other weights: exit code $?"
for text in '' '[]' '{}' '{"host": 1}' '{"arch": "x86_64", "kernel": "6.1", "weights": "measured", "caps": [1]}' \
    '{"arch": "x86_64", "kernel": "6.1", "weights": "measured", "caps": [], "systemd": 252}' \
    '{"arch": "x86_64", "kernel": "6.1", "weights": "measured", "caps": [], "systemd": {"version": 252, "from": "host", "groups_differ": ["+@clock"]}}'; do
  echo "$text" >bad.json
  seccompress flatten -q --host-facts bad.json x.service -f asm; echo "exit code $?"
done
