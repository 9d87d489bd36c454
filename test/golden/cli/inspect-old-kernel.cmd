seccompress inspect -q --arch x86_64 --kernel 5.4 --no-cache-model dir:stack
