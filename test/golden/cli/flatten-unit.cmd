seccompress flatten x.service -f asm
