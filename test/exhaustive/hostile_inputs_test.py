#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Layers made to be expensive: each is answered, or refused at a stated limit with a message that names its place, within
64 MiB and about a second of CPU time. hostile_inputs_test.py SECCOMPRESS. Fixed seed; `SEED=` chooses another one.
"""
import json
import os
import pathlib
import random
import struct
import sys
import tempfile

MAX_MIB = 64
# The aim is one second on a machine of its own; sharing a core's caches with others doubles it and more.
MAX_CPU_SECONDS = 4.0

LD, JEQ, JGT, JGE, JSET, RET, ALLOW = 0x20, 0x15, 0x25, 0x35, 0x45, 0x06, 0x7FFF0000
ORDERED = ['SCMP_CMP_LT', 'SCMP_CMP_GT', 'SCMP_CMP_NE', 'SCMP_CMP_LE', 'SCMP_CMP_GE']
BUDGET = r'diagram edges are needed: too many different argument tests'


def instruction(code, jt, jf, k):
    return struct.pack('<HBBI', code, jt, jf, k & 0xFFFFFFFF)


def profile(rng, rules, conditions, operators, arguments=6, docker=False):
    def condition(i):
        value = rng.getrandbits(64)
        entry = {'index': i % arguments, 'value': value, 'op': rng.choice(operators)}
        if entry['op'] == 'SCMP_CMP_MASKED_EQ':
            entry['valueTwo'] = value & rng.getrandbits(64)
        return entry
    actions = ['SCMP_ACT_ALLOW', 'SCMP_ACT_LOG', 'SCMP_ACT_TRAP']
    body = {'defaultAction': 'SCMP_ACT_ERRNO', 'syscalls': [
        {'names': ['ioctl'], 'action': rng.choice(actions), 'args': [condition(i) for i in range(conditions)]}
        for _ in range(rules)]}
    if docker:
        body['archMap'] = [{'architecture': 'SCMP_ARCH_X86_64', 'subArchitectures': ['SCMP_ARCH_X86', 'SCMP_ARCH_X32']}]
    else:
        body['architectures'] = ['SCMP_ARCH_X86_64', 'SCMP_ARCH_X86', 'SCMP_ARCH_X32', 'SCMP_ARCH_AARCH64']
    return json.dumps(body, indent=1).encode()


def tests_of_words(rng, tests, codes):
    parts = []
    for _ in range(tests):
        parts += [instruction(LD, 0, 0, rng.randrange(16) * 4), instruction(rng.choice(codes), 0, 1, rng.getrandbits(32)),
                  instruction(RET, 0, 0, 0x50000 + rng.randrange(1, 100))]
    return b''.join(parts) + instruction(RET, 0, 0, ALLOW)


def conjunctions(rng, count):
    parts = []
    for _ in range(count):
        for left in (11, 9, 7, 5, 3, 1):
            parts += [instruction(LD, 0, 0, rng.randrange(4, 16) * 4),
                      instruction(rng.choice([JGE, JGT, JSET]), 0, left, rng.getrandbits(32))]
        parts.append(instruction(RET, 0, 0, 0x50000 + rng.randrange(1, 100)))
    return b''.join(parts) + instruction(RET, 0, 0, ALLOW)


def architectures_and_numbers(count):
    """Alternating tests of arch and nr: `count` classes of one times as many ranges of the other."""
    parts = []
    for i in range(count):
        parts += [instruction(LD, 0, 0, 4), instruction(JGE, 0, 3, (count - i) * 6000001),
                  instruction(LD, 0, 0, 0), instruction(JGE, 0, 1, i * 3 + 1), instruction(RET, 0, 0, 0x50000 + i % 4000 + 1)]
    return b''.join(parts) + instruction(RET, 0, 0, ALLOW)


def unit(rng, lines):
    groups = ['@mount', '@clock', '@swap', '@raw-io', '@setuid', '@system-service', '@privileged', '@ipc', '@known']
    text = ['[Service]']
    for _ in range(lines):
        names = ' '.join(rng.sample(groups, 4))
        text.append(f'SystemCallFilter={rng.choice(["", "~"])}{names}')
        text.append('RestrictAddressFamilies=~AF_UNIX AF_INET AF_PACKET')
        text.append(f'SystemCallLog={rng.choice(["", "~"])}{names}')
    return '\n'.join(text).encode()


# name -> (file, bytes, what the answer must say; None: it is one program)
def inputs(rng):
    at_rule = r':\d+:\d+: at the rules for ioctl on [a-z0-9_]+, more than \d+ ' + BUDGET
    yield 'oci, 30 rules of 6 ordered conditions', 'a.json', profile(rng, 30, 6, ORDERED[:3]), 'a.json' + at_rule
    yield 'oci, 3000 rules of 6', 'b.json', profile(rng, 3000, 6, ORDERED), 'b.json' + at_rule
    yield 'oci, 30 rules of 6 masks', 'c.json', profile(rng, 30, 6, ['SCMP_CMP_MASKED_EQ']), 'c.json' + at_rule
    yield 'oci, 2000 masks of one argument', 'd.json', profile(rng, 2000, 1, ['SCMP_CMP_MASKED_EQ'], 1), 'd.json' + at_rule
    yield 'docker, 200 rules of 6', 'e.json', profile(rng, 200, 6, ORDERED, docker=True), 'e.json' + at_rule
    yield 'docker, 10000 values', 'f.json', profile(rng, 10000, 1, ['SCMP_CMP_EQ'], 1, docker=True), 'f.json' + at_rule
    yield 'bpf, 1000 tests of all words', 'g.bpf', tests_of_words(rng, 1000, [JGT, JGE, JSET]), 'g.bpf: .*' + BUDGET
    yield 'bpf, 1000 bit tests', 'h.bpf', tests_of_words(rng, 1000, [JSET]), 'h.bpf: .*' + BUDGET
    yield 'bpf, 1000 ordered tests', 'i.bpf', tests_of_words(rng, 1000, [JGE]), 'i.bpf'
    yield 'bpf, 250 conjunctions', 'j.bpf', conjunctions(rng, 250), 'j.bpf: .*' + BUDGET
    yield 'bpf, 650 architectures times 650 numbers', 'k.bpf', architectures_and_numbers(650), None
    yield 'bpf, 800 architectures times 800 numbers', 'l.bpf', architectures_and_numbers(800), None
    yield 'systemd, 2500 times 3 assignments', 'm.service', unit(rng, 2500), None
    yield 'systemd, 7000 times 3 assignments', 'o.service', unit(rng, 7000), r'o.service:\d+:1: error: more than 65536 words'
    yield 'dir, 64 filters of bit tests', 'n', [tests_of_words(rng, 30, [JSET]) for _ in range(64)], 'n'


def run(program, layer, error_path):
    """(exit code, CPU seconds, MiB at most) of `flatten LAYER`."""
    with open(error_path, 'wb') as error:
        child = os.posix_spawn(program, [program, 'flatten', '-q', '--systemd-version', '252', layer, '-o', layer + '.out'],
                               {}, file_actions=[(os.POSIX_SPAWN_DUP2, error.fileno(), 2)])
        _, status, usage = os.wait4(child, 0)
    return os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def faults(code, seconds, mib, message, expected):
    import re
    if code not in (0, 2):
        yield f'exit code {code}'
    if seconds > MAX_CPU_SECONDS:
        yield f'{seconds:.2f} s'
    if mib > MAX_MIB:
        yield f'{mib:.0f} MiB'
    if expected is None and code != 0:
        yield f'refused: {message}'
    if expected is not None and (code != 2 or not re.search(expected, message) or message.count('error:') != 1):
        yield f'exit code {code} and {message!r} instead of one error with {expected!r}'


def main():
    program, seed = os.path.abspath(sys.argv[1]), int(os.environ.get('SEED', '20261130'))
    print(f'SEED={seed}')
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        for what, file, content, expected in inputs(random.Random(seed)):
            if isinstance(content, list):
                os.mkdir(file)
                for i, code in enumerate(content):
                    pathlib.Path(file, f'{i:02}.bpf').write_bytes(code)
            else:
                pathlib.Path(file).write_bytes(content)
            code, seconds, mib = run(program, file, 'error')
            message = pathlib.Path('error').read_text()
            found = list(faults(code, seconds, mib, message, expected))
            failed += bool(found)
            print(f'{"FAIL" if found else "ok":5}{what}: exit code {code}, {seconds:.2f} s, {mib:.0f} MiB {"; ".join(found)}', flush=True)
            if code == 2 and not found:
                print('     ' + message.splitlines()[-1])
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
