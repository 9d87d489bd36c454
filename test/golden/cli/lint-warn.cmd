seccompress flatten oci:unknown-name.json -o out >/dev/null
