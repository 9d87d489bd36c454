seccompress flatten oci:cut-off.json
