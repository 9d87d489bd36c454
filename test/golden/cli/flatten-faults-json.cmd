seccompress flatten oci:two-faults.json --json 2>/dev/null
