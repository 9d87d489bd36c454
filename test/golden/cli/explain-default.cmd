seccompress explain --arch x86_64 --kernel 6.1 --lint off profile.json -- reboot
