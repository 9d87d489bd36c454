# SPDX-License-Identifier: Apache-2.0
"""Reads what meson knows about tests.

results.py targets BUILD SUITE...     the ninja targets that these suites' tests need, one a line
results.py count FAILED BUILD...      "N passed, N failed, N skipped" over all builds; FAILED more failures are added

Cases are counted, not executables: meson-logs/testlog.junit.xml has GoogleTest's own. An executable without cases
there (a script, a crash before the first result) counts as one, by meson-logs/testlog.json.
"""
import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

PASSED, SKIPPED = {'OK', 'EXPECTEDFAIL'}, {'SKIP'}


def introspect(build, what):
    return json.loads((pathlib.Path(build) / 'meson-info' / f'intro-{what}.json').read_text())


def targets(build, suites):
    needed = set()
    for test in introspect(build, 'tests'):
        if any(suite.split(':')[-1] in suites for suite in test['suite']):
            needed.update(test['depends'])
    top = pathlib.Path(build).resolve()
    for target in introspect(build, 'targets'):
        if target['id'] in needed:
            yield from (str(pathlib.Path(name).resolve().relative_to(top)) for name in target['filename'])


def cases_by_suite(build):
    """{name of a suite: counts of its cases}; meson names GoogleTest's suites PROJECT.TEST.SUITE."""
    found = collections.defaultdict(collections.Counter)
    log = pathlib.Path(build) / 'meson-logs' / 'testlog.junit.xml'
    if not log.exists():
        return found
    for suite in xml.etree.ElementTree.parse(log).getroot().iter('testsuite'):
        for case in suite.iter('testcase'):
            outcome = 'passed'
            if case.find('failure') is not None or case.find('error') is not None:
                outcome = 'failed'
            elif case.find('skipped') is not None or case.get('status') == 'notrun':
                outcome = 'skipped'
            found[suite.get('name')][outcome] += 1
    return found


def count(build):
    total = collections.Counter()
    suites = cases_by_suite(build)
    for line in (pathlib.Path(build) / 'meson-logs' / 'testlog.json').read_text().splitlines():
        test = json.loads(line)
        name = f"seccompress.{test['name']}"
        cases = sum((counts for suite, counts in suites.items() if f"{suite}.".startswith(f"{name}.")), collections.Counter())
        outcome = 'passed' if test['result'] in PASSED else 'skipped' if test['result'] in SKIPPED else 'failed'
        # The live drivers count their own cases in their last line.
        own = re.search(r'^(\d+) passed, (\d+) failed, (\d+) skipped\s*\Z', test.get('stdout', ''), re.M)
        if not cases and own:
            cases = collections.Counter(dict(zip(('passed', 'failed', 'skipped'), map(int, own.groups()))))
        if not cases:
            cases = collections.Counter({outcome: 1})
        elif outcome == 'failed' and not cases['failed']:
            cases['failed'] += 1  # it crashed or ran out of time between two cases
        total += cases
    return total


if sys.argv[1] == 'targets':
    print('\n'.join(sorted(set(targets(sys.argv[2], sys.argv[3:])))))
else:
    total = collections.Counter(failed=int(sys.argv[2]))
    for folder in sys.argv[3:]:
        total += count(folder)
    print(f"{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    sys.exit(1 if total['failed'] or not total['passed'] else 0)
