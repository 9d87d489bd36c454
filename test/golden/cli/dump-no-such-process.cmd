seccompress dump 2000000000 -o out; code=$?; test -e out && echo "out is there"; exit $code
