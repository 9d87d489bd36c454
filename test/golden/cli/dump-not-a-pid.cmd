seccompress dump init -o out
