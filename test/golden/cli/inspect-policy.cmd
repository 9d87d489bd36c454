seccompress inspect --arch x86_64 --kernel 6.1 oci:one-rule.json
