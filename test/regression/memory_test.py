# SPDX-License-Identifier: Apache-2.0
"""Holds the memory that flatten takes to the bar of design section 8: memory_test.py SECCOMPRESS CORPUS [REASON]

The most that the process ever had resident, as wait4 tells it, for a profile of ours with thousands of values and for the
five biggest inputs of the corpus that flatten takes, and the one that takes most. REASON: why this build cannot be
measured. Output is TAP. A process's figure begins with what its parent had (fs/exec.c exec_mmap): this one stays small,
some 14 MiB.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

LIMIT = 32 << 20
BIGGEST = 5
HEAVIEST = 'bpf/ctf/hgame-arm64-tea-alu.bpf'  # small, but of all the corpus its proof takes most
# By what lies there; a folder of *.bpf is one input.
KINDS = {'oci': 'oci', 'bugs': 'oci', 'docker': 'docker', 'k8s-spo': 'spo', 'snap': 'snap', 'bpf': 'bpf', 'cache-truth': 'bpf',
         'systemd-live': 'dir'}
ENDINGS = {'oci': '.json', 'docker': '.json', 'spo': '.yaml', 'snap': '.src', 'bpf': '.bpf'}


def flatten(seccompress, layers):
    """(exit code, bytes that were resident at most)"""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen([seccompress, 'flatten', '-q', '--lint=off', *layers, '-o', f'{folder}/flat'],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        return process.returncode, usage.ru_maxrss << 10


def write_many_values(path, count):
    """Refuses `count` commands of ioctl, far from each other: more than one program holds."""
    with open(path, 'w') as file:
        file.write('{"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [\n')
        for i in range(count):
            file.write('  {"names": ["ioctl"], "action": "SCMP_ACT_ERRNO", "errnoRet": 25, "args": [\n    {"index": 1, "value": %d, '
                       '"op": "SCMP_CMP_EQ"}]}%s\n' % (i * 2654435761 % 2**32, ',' if i + 1 < count else ']}'))


def inputs_of(corpus):
    """(size, layer), the biggest first."""
    found = []
    for folder, kind in KINDS.items():
        for path in sorted((corpus / folder).rglob('*')):
            if kind == 'dir' and path.is_dir():
                found.append((sum(one.stat().st_size for one in path.glob('*.bpf')), f'dir:{path}'))
            elif path.is_file() and path.suffix == ENDINGS.get(kind):
                found.append((path.stat().st_size, f'{kind}:{path}'))
    return sorted(found, key=lambda one: (-one[0], one[1]))


def report(name, code, memory):
    good = code == 0 and memory < LIMIT
    print(f"{'ok' if good else 'not ok'} - {name}: {memory / (1 << 20):.1f} MiB resident at most, exit code {code}", flush=True)
    return good


def main():
    seccompress, corpus = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    if len(sys.argv) > 3:
        print(f'1..0 # SKIP {sys.argv[3]}')
        return 0
    good = True
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder, 'many-values.json')
        for count in (1000, 5000):
            write_many_values(profile, count)
            good &= report(f'{count} values of one argument', *flatten(seccompress, [f'oci:{profile}']))
    if not corpus.is_dir():
        print('ok - the biggest inputs of the corpus # SKIP no corpus\n1..3')
        return 0 if good else 1
    good &= report(HEAVIEST, *flatten(seccompress, [f'bpf:{corpus / HEAVIEST}']))
    measured = 0
    for size, layer in inputs_of(corpus):
        code, memory = flatten(seccompress, [layer])
        if code == 0:
            good &= report(f'{layer.split(str(corpus))[-1]} ({size} bytes)', code, memory)
            measured += 1
        if measured == BIGGEST:
            break
    print(f'1..{3 + BIGGEST}')
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main())
