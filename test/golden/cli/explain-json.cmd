seccompress explain --arch x86_64 --kernel 6.1 --json arguments.json -- personality | grep -v libseccomp
