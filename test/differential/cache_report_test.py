# SPDX-License-Identifier: Apache-2.0
"""Holds `simulate --stack --cache-report` to the kernel: cache_report_test.py SECCOMPRESS CORPUS

Every report of /proc/PID/seccomp_cache in the corpus (cache-truth, its README has the format) must come out byte for
byte; the report file keeps the SHA-256 of what the kernel printed. The flat program's cache must hold at least what the
stack's does, for every stack that flattens. Exit code 77: no corpus.
"""
import hashlib
import pathlib
import subprocess
import sys

SECCOMPRESS, CORPUS = sys.argv[1], pathlib.Path(sys.argv[2])
TRUTH = CORPUS / 'cache-truth'


def layers_of(stack):
    """"A+B": A is the older one. A part is a folder of systemd-live or a file."""
    if stack.startswith('systemd-live/'):
        return [f'dir:{CORPUS / stack}']
    if stack.startswith('bpf/'):
        return [f'bpf:{CORPUS / stack}.bpf']
    folder, name = stack.rsplit('/', 1)
    live = CORPUS / 'systemd-live'
    return [f'dir:{live / part}' if (live / part).is_dir() else f'bpf:{TRUTH / "input" / folder / part}.bpf'
            for part in name.split('+')]


def report(kernel, layers, *options):
    done = subprocess.run([SECCOMPRESS, 'simulate', '--arch', 'x86_64', '--cache-report', '--kernel', kernel, *options, *layers],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60)
    return done.stdout if done.returncode == 0 else None, done.stderr


def check(path, kernel):
    """Faults of one report, and whether the stack flattens."""
    head = {}
    for line in path.read_text().splitlines():
        words = line.split()
        if words[0] == '#':
            head.update(zip(words[1::2], words[2::2]))
    layers = layers_of(head['stack'])
    predicted, error = report(kernel, layers, '--stack')
    if predicted is None:
        return [f'{kernel} {head["stack"]}: {error}'], False
    faults = []
    if hashlib.sha256(predicted.encode()).hexdigest() != head['report-sha256']:
        faults.append(f'{kernel} {head["stack"]}: another report than the kernel\'s')
    flat, error = report(kernel, layers)
    if flat is None:
        return faults, False
    lost = [now for was, now in zip(predicted.splitlines(), flat.splitlines()) if was.endswith('ALLOW') and not now.endswith('ALLOW')]
    return faults + [f'{kernel} {head["stack"]}: flattened it loses {line}' for line in lost[:5]], True


if not TRUTH.is_dir():
    print('no corpus beside the checkout')
    sys.exit(77)
found, reports, flattened = [], 0, 0
for version in ('6.1', '6.12'):
    for file in sorted((TRUTH / version).rglob('*.cache')):
        faults, flattens = check(file, version)
        found += faults
        reports += 1
        flattened += flattens
print('\n'.join(found))
print(f'{reports} reports, {flattened} of them also of stacks that flatten, {len(found)} faults')
sys.exit(1 if found or reports < 200 or flattened < 100 else 0)
