seccompress explain --arch x86_64 dir:stack oci:one-rule.json -- mount
