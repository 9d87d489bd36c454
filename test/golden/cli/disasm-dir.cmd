seccompress disasm dir:stack
