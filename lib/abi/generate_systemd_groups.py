#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes lib/abi/systemd_groups.def: which names each @group of systemd has, in which versions.

    systemd-analyze --no-pager syscall-filter > 252.txt
    lib/abi/generate_systemd_groups.py 252=252.txt 254=254.tsv ... > lib/abi/systemd_groups.def

A table is the output of `systemd-analyze syscall-filter`, or lines GROUP<tab>MEMBER. Tables come oldest first; each
stands for its version up to the next one's. @known is made when systemd is built, so tables taken from its source
lack it: the one before is carried on.
"""
import re
import sys

NEWEST = 9999


def read_table(path):
    groups, group = {}, None
    for line in open(path, encoding='ascii'):
        if match := re.match(r'(@\S+)\t(\S+)$', line):
            groups.setdefault(match[1], set()).add(match[2])
        elif match := re.match(r'(@\S+)$', line):
            group = groups.setdefault(match[1], set())
        elif match := re.match(r'    ([@\w]\S*)$', line):
            group.add(match[1])
    return groups


def read_tables(arguments):
    tables, known = [], set()
    for argument in arguments:
        version, path = argument.split('=', 1)
        groups = read_table(path)
        if len(groups.get('@known', ())) < 2:
            groups['@known'] = known
        known = groups['@known']
        tables.append((int(version), groups))
    return tables


def ranges(tables, group, member):
    """[first version, last version] of each run of tables that have the member."""
    runs = []
    for index, (version, groups) in enumerate(tables):
        if member not in groups.get(group, ()):
            continue
        last = tables[index + 1][0] - 1 if index + 1 < len(tables) else NEWEST
        if runs and runs[-1][1] == version - 1:
            runs[-1][1] = last
        else:
            runs.append([version, last])
    return runs


def main():
    tables = read_tables(sys.argv[1:])
    print('// SPDX-License-Identifier: Apache-2.0')
    print('// Written by generate_systemd_groups.py. MEMBER(group, name or nested group, first and last systemd version)')
    everything = sorted({(group, member) for _, groups in tables for group, members in groups.items() for member in members})
    for group, member in everything:
        for first, last in ranges(tables, group, member):
            print(f'MEMBER("{group}", "{member}", {first}, {last})')


main()
