seccompress explain arguments.json
