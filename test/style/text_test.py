# SPDX-License-Identifier: Apache-2.0
"""Holds what every text file of the repository must be, and what its top level may show.

SPDX lines; no tabs (but in tables), no trailing blanks, a newline at the end; lines of code up to 160 columns; files
of code up to 500 lines and functions up to 80; words that no name may have; the two commands there, executable and
named first in README.md.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOP = {'cmd', 'lib', 'profiles', 'hooks', 'test', 'meson.build', 'packaging', 'README.md', 'LICENSE'}
CODE = ('.cc', '.h', '.def')
NEEDS_SPDX = CODE + ('.py', '.md', '.tsv', '.service', '.target', '.1', '.8', '.verdicts')
DATA = ('test/golden/', 'test/fuzz/corpus/')  # inputs and expected outputs: byte for byte what they are
MAX_COLUMNS, MAX_LINES, MAX_FUNCTION_LINES = 160, 500, 80
# Longer files, each with its reason.
LONG_FILES = {'lib/abi/systemd_groups.def': 2000}  # written by a script
VAGUE_WORDS = r'(^|[/_])(util|utils|helper|helpers|common|misc|manager)([._/]|$)'


def tracked_files():
    listed = subprocess.run(['git', '-c', f'safe.directory={ROOT}', '-C', str(ROOT), 'ls-files', '-z'], capture_output=True)
    if listed.returncode == 0:
        return [name for name in listed.stdout.decode().split('\0') if name and (ROOT / name).is_file()]
    return [str(path.relative_to(ROOT)) for path in ROOT.rglob('*')  # an unpacked archive
            if path.is_file() and not path.relative_to(ROOT).parts[0].startswith(('build', '.git'))]


def needs_spdx(name, text):
    return name.endswith(NEEDS_SPDX) or name.endswith('meson.build') or text.startswith('#!')


def functions(text):
    """(first line, lines) of each function body: an opening line at column 0 or 2 up to the closing brace there."""
    opened = {}
    for number, line in enumerate(text.splitlines(), 1):
        indent = len(line) - len(line.lstrip())
        if indent not in (0, 2):
            continue
        if line.rstrip().endswith('{') and '(' in line and not re.match(
                r'\s*(if|for|while|switch|do|else|return|case|namespace|struct|class|enum|constexpr|const|static const|try|\}|#)\b', line):
            opened[indent] = number
        elif line.strip() in ('}', '};') and indent in opened:
            yield opened[indent], number - opened.pop(indent) + 1


def code_faults(name, text):
    lines = text.splitlines()
    if len(lines) > LONG_FILES.get(name, MAX_LINES):
        yield f'{name}: {len(lines)} lines, more than {LONG_FILES.get(name, MAX_LINES)}'
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            yield f'{name}:{number}: {len(line)} columns, more than {MAX_COLUMNS}'
    for first, length in functions(text):
        if length > MAX_FUNCTION_LINES:
            yield f'{name}:{first}: a function of {length} lines, more than {MAX_FUNCTION_LINES}'


def text_faults(name, text):
    if needs_spdx(name, text) and 'SPDX-License-Identifier: Apache-2.0' not in '\n'.join(text.splitlines()[:3]):
        yield f'{name}:1: no SPDX line'
    if not text.endswith('\n'):
        yield f'{name}: no newline at the end'
    for number, line in enumerate(text.splitlines(), 1):
        if '\t' in line and not name.endswith(('.tsv', '.verdicts')) and name != 'LICENSE':
            yield f'{name}:{number}: a tab'
        if line != line.rstrip(' ' if name.endswith('.tsv') else None):
            yield f'{name}:{number}: trailing blanks'


def file_faults(name):
    if re.search(VAGUE_WORDS, name):
        yield f'{name}: a name that says nothing'
    if name.startswith(DATA) and not name.endswith(('.cc', '.py', 'meson.build', '.md')):
        return
    try:
        text = (ROOT / name).read_bytes().decode()
    except UnicodeDecodeError:
        return
    if not text or '\0' in text:
        return
    yield from text_faults(name, text)
    if name.endswith(CODE):
        yield from code_faults(name, text)


def top_faults(names):
    for top in sorted({name.split('/')[0] for name in names} - TOP):
        if not top.startswith('.'):
            yield f'{top}: not one of the names that the top level may show'
    for command in ('packaging/quickstart', 'test/run', '.ci/run'):
        if not os.access(ROOT / command, os.X_OK):
            yield f'{command}: missing or not executable'
    readme = (ROOT / 'README.md').read_text() if (ROOT / 'README.md').exists() else ''
    for command in ('packaging/quickstart', 'test/run'):
        if command not in readme:
            yield f'README.md: does not name {command}'


names = tracked_files()
found = [fault for name in names for fault in file_faults(name)] + list(top_faults(names))
print('\n'.join(found) or f'{len(names)} files are as they should be')
sys.exit(1 if found else 0)
