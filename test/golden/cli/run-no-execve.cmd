seccompress run no-execve.json -- true
