printf '[Service]\nExecStart=/bin/true\n' > plain.service
seccompress inspect --arch x86_64 --kernel 6.1 --systemd-version 252 plain.service
