seccompress flatten oci:unknown-name.json -o out --lint off >/dev/null
