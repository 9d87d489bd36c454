seccompress flatten x.service --systemd-version 251
