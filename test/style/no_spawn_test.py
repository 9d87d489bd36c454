# SPDX-License-Identifier: Apache-2.0
"""The hook starts no programs: no_spawn_test.py HOOK. Its archive holds what the command line uses to start some, so
the binary itself is looked at: nothing of host::spawn or Boost.Process may have been linked into it."""
import subprocess
import sys

names = subprocess.run(['nm', '-C', sys.argv[1]], check=True, capture_output=True, text=True).stdout
if 'seccompress::host::find_unit(' not in names:
    sys.exit('the hook has no symbols; this test proves nothing')
found = [line for line in names.splitlines() if 'host::spawn(' in line or 'host::ask_systemd(' in line or 'boost::process' in line]
print('\n'.join(found) or 'the hook starts no programs')
sys.exit(1 if found else 0)
