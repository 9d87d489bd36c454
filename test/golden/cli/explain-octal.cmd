seccompress explain --arch x86_64 --kernel 6.1 oci:one-rule.json -- chmod 0 04755 | head -1
seccompress explain --arch x86_64 --kernel 6.1 oci:one-rule.json -- chmod 0 08
