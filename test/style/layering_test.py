# SPDX-License-Identifier: Apache-2.0
"""Holds lib/README.md's layering table: every #include of a lib/ folder names a folder that its row allows."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIB = ROOT / 'lib'


def read_table():
    section = (LIB / 'README.md').read_text().split('## Who may include whom')[1].split('\n## ')[0]
    rows = re.findall(r'^\| (\w+) \|([^|]*)\|$', section, re.M)
    return {folder: {name.strip() for name in allowed.split(',') if name.strip()}
            for folder, allowed in rows if folder != 'folder'}


def faults(table):
    folders = {path.name for path in LIB.iterdir() if path.is_dir()}
    for missing in sorted(folders - set(table)):
        yield f'lib/README.md: no row for folder {missing}'
    for gone in sorted(set(table) - folders - {path.stem for path in LIB.glob('*.cc')}):
        yield f'lib/README.md: row {gone} has no folder'
    for source in sorted(LIB.rglob('*')):
        if source.suffix not in ('.h', '.cc', '.def', '.inc'):
            continue
        part = source.relative_to(LIB).parts
        owner = part[0] if len(part) > 1 else source.stem
        for number, line in enumerate(source.read_text().splitlines(), 1):
            included = re.match(r'#include "([^"/]+)/', line)
            if included and included[1] != owner and included[1] not in table.get(owner, set()):
                yield f'{source.relative_to(ROOT)}:{number}: {owner} may not include {included[1]}'
            if line.startswith('#include <boost/process') and source != LIB / 'host/spawn.cc':
                yield f'{source.relative_to(ROOT)}:{number}: only host/spawn.cc may start programs'
            if re.match(r'#include "pipeline\.h"', line) and owner != 'pipeline' and 'pipeline' not in table.get(owner, set()):
                yield f'{source.relative_to(ROOT)}:{number}: {owner} may not include the pipeline'


def hook_faults():
    """cmd and hooks may include everything, but what runs for every container starts no program."""
    for source in sorted((ROOT / 'hooks').rglob('*')):
        if source.suffix in ('.h', '.cc') and re.search(r'#include (<boost/process|"host/(spawn|ask_systemd)\.h")',
                                                        source.read_text()):
            yield f'{source.relative_to(ROOT)}: the hook may start no program'


found = list(faults(read_table())) + list(hook_faults())
print('\n'.join(found) or 'every include is allowed')
sys.exit(1 if found else 0)
