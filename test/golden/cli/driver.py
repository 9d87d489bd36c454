# SPDX-License-Identifier: Apache-2.0
"""Runs <case>.cmd for every case beside it and compares with <case>.out, .err and .code: driver.py SECCOMPRESS

A .cmd is a shell script; it runs in a fresh copy of inputs/ with `seccompress` on its PATH. A missing expectation is a
failure. ACCEPT=1 writes the expectations and reports the case as skipped. Output is TAP.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent


def run(case, seccompress):
    with tempfile.TemporaryDirectory() as folder:
        work, tools = pathlib.Path(folder, 'work'), pathlib.Path(folder, 'bin')
        shutil.copytree(HERE / 'inputs', work)
        tools.mkdir()
        (tools / 'seccompress').symlink_to(seccompress)
        environment = {'PATH': f'{tools}:/usr/bin:/bin', 'LC_ALL': 'C.UTF-8'}
        done = subprocess.run(['sh', str(case)], cwd=work, env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=240)
        return {'.out': done.stdout, '.err': done.stderr, '.code': b'%d\n' % done.returncode}


def differences(case, got):
    for suffix, text in got.items():
        expected = case.with_suffix(suffix)
        if not expected.exists():
            yield f'{expected.name} is missing; ACCEPT=1 writes it'
        elif expected.read_bytes() != text:
            yield f'{expected.name}: expected\n{expected.read_text()}got\n{text.decode(errors="replace")}'


def accept(case, got):
    for suffix, text in got.items():
        case.with_suffix(suffix).write_bytes(text)


cases = sorted(HERE.glob('*.cmd'))
print(f'1..{len(cases)}')
failed = False
for number, case in enumerate(cases, 1):
    got = run(case, os.path.abspath(sys.argv[1]))
    found = list(differences(case, got))
    if found and os.environ.get('ACCEPT') == '1':
        accept(case, got)
        print(f'ok {number} {case.stem} # SKIP accepted')
    elif found:
        failed = True
        print(f'not ok {number} {case.stem}')
        print('\n'.join('# ' + line for fault in found for line in fault.splitlines()))
    else:
        print(f'ok {number} {case.stem}')
sys.exit(1 if failed else 0)
