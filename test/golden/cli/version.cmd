seccompress --version | sed 's/[0-9a-f]\{40\}/BUILD-ID/; s/libseccomp [0-9.]*/libseccomp X.Y.Z/'
