seccompress flatten oci:unknown-name.json -o out --lint error; code=$?; test -e out && echo "out is there"; exit $code
