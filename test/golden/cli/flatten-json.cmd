seccompress flatten dir:stack no-umask.bpf --kernel 6.1 --caps CAP_CHOWN --json | python3 -c '
import json, sys
report = json.load(sys.stdin)
report["build_id"] = report["host"]["libseccomp"] = report["program"] = "..."
report["after"] = sorted(report["after"])
report["timings_us"] = sorted(report["timings_us"])
json.dump(report, sys.stdout, indent=1)'
