seccompress disasm --arch aarch64 oci:one-rule.json
