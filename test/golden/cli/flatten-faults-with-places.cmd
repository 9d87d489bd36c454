seccompress flatten oci:two-faults.json -o out; code=$?; test -e out && echo "out is there"; exit $code
