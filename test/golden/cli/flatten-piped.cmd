cat profile.json | seccompress flatten -q /dev/stdin -f base64 >piped
seccompress flatten -q profile.json -f base64 >named
cmp piped named
