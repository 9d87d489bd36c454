seccompress disasm --arch x86_64 oci:one-rule.json
