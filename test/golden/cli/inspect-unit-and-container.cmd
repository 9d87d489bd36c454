seccompress inspect --lint off --arch x86_64 --kernel 6.1 --systemd-version 252 --caps sys_admin worker.service docker:container.json |
  sed -E '/^= one program/,$d; s/~?[0-9]+ instructions/N instructions/g; s/costs ~?[0-9.]+/costs N/; s/of ~?[0-9.]+\.$/of N./; s/~[0-9,]+/N/g; s/ +/ /g'
