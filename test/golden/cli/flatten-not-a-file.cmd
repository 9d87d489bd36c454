mkfifo fifo
for layer in fifo oci:fifo systemd:fifo dir:fifo oci:/ /dev/zero /dev/null bpf:/dev/zero oci:no/such; do
  timeout 20 seccompress flatten $layer
  echo "$layer: exit code $?"
done
mkfifo x.service.d/a.conf
timeout 20 seccompress flatten --systemd-version 252 x.service
echo "drop-in: exit code $?"
timeout 20 seccompress flatten profile.json --weights fifo
echo "weights: exit code $?"
timeout 20 seccompress flatten profile.json --host-facts fifo
echo "facts: exit code $?"
