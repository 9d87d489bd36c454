#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every `seccompress bench` with --quick: does it work, are all rows there, is what it says possible? Nothing is timed.

bench_test.py SECCOMPRESS HOOK SOURCES. One line a case, 77 when nothing could run.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

SECCOMPRESS, HOOK, SOURCES = map(os.path.abspath, sys.argv[1:4])
FIVE = ["no filter", "1 filter", "4 filters", "32 filters", "32 filters, flattened"]
RUNTIMES = [name for name in ("runc", "crun") if shutil.which(name)]


def expect(condition, what):
    if not condition:
        raise AssertionError(what)


def run(name, *arguments):
    """The report, after what holds for every one."""
    with tempfile.TemporaryDirectory() as folder:
        svg = pathlib.Path(folder, "plot.svg")
        done = subprocess.run([SECCOMPRESS, "bench", name, "--quick", "--json", "--svg", svg, *arguments],
                              capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
        expect(done.returncode == 0, f"exit code {done.returncode}: {done.stdout} {done.stderr}")
        expect(done.stderr == "", f"on stderr without a terminal: {done.stderr!r}")
        root = xml.etree.ElementTree.fromstring(svg.read_text())
        expect(root.tag.endswith("svg"), f"the plot is {root.tag}")
    report = json.loads(done.stdout)
    expect(report["bench"] == name and report["quick"] is True, "name or quick")
    for section in report["sections"]:
        for row in section["rows"]:
            expect(len(row["trials"]) == 1 if section["published"] else len(row["trials"]) >= 3, f"trials of {row}")
            value = row["value"]
            expect(value["min"] <= value["lower_quartile"] <= value["median"] <= value["upper_quartile"] <= value["max"], f"spread: {row}")
    return report


def section(report, words):
    found = [one for one in report["sections"] if words in one["title"]]
    expect(len(found) == 1, f"{len(found)} sections are called {words!r}: {[one['title'] for one in report['sections']]}")
    return {row["label"]: row["trials"] for row in found[0]["rows"]}


def expect_rows(rows, labels):
    expect(list(rows) == labels, f"rows are {list(rows)}")
    for label, trials in rows.items():
        expect(all(trial > 0 for trial in trials), f"{label}: {trials}")


def unixbench():
    report = run("unixbench")
    expect_rows(section(report, "published"), FIVE[:4])
    expect_rows(section(report, "always allows"), FIVE)
    expect_rows(section(report, "checks an argument"), FIVE)
    installing = section(report, "installing")
    expect_rows(installing, ["the flat program", "35 filters"])


def entry():
    report = run("entry")
    for words in ("filters run", "cache answers"):
        expect_rows(section(report, "getpid, an" if words == "filters run" else "getpid, always"),
                    ["no filter", "1 filter", "2 filters", "32 filters", "32 filters, flattened"])
    estimates = [one for one in report["sections"] if one["title"] == "estimated overhead"][0]
    expect(len(estimates["rows"]) == 4 and "ratio_to" not in estimates, f"estimates: {estimates}")


def allow_min():
    report = run("allow-min")
    expect_rows(section(report, "five calls"), ["no filter", "35 filters", "flattened"])


def cache():
    report = run("cache")
    stack, flat = (row["values"] for row in report["grids"][0]["rows"])
    expect(len(stack) == 2 and stack[0] > 100 and all(f >= s for f, s in zip(flat, stack)), f"{stack} {flat}")
    expect("stack only: none" in report["notes"], f"{report['notes']}")
    expect(not any("NOT" in note for note in report["notes"]), f"{report['notes']}")


def snap():
    report = run("snap")
    grid = report["grids"][0]
    expect(grid["columns"] == ["read", "lseek", "mmap", "getppid", "epoll_wait", "openat"], f"{grid['columns']}")
    rows = {row["label"]: row["values"] for row in grid["rows"]}
    alike = rows["flattened, the six calls weighted alike"]
    expect(all(3 < got <= bar for got, bar in zip(alike, (6, 8, 8, 9, 9, 9))), f"{alike}")


def a_stack_of_ones_own():
    report = run("allow-min", "docker:" + SOURCES + "/profiles/container-default.json")
    expect_rows(section(report, "five calls"), ["no filter", "1 filter", "flattened"])


def hook():
    report = run("hook", "--hook", HOOK)
    for runtime in RUNTIMES:
        for nnp in ("no_new_privs", "without no_new_privs"):
            rows = section(report, f"{runtime}, {nnp}: start")
            expect("the runtime alone" in rows and "route 1: createRuntime, ptrace" in rows, f"{list(rows)} {report['notes']}")
            stops = section(report, f"{runtime}, {nnp}: the hook's own account, route 1: createRuntime")
            expect(min(stops["stops of init"]) > 10, f"{stops}")


def build():
    rows = section(run("build", "--hook", HOOK, "--sources", SOURCES), "processor time")
    expect_rows(rows, ["on the host", "in a container, no filter", "in a container, 35 filters", "in a container, flattened by the hook"])


def a_name_that_is_none():
    done = subprocess.run([SECCOMPRESS, "bench", "nonesuch"], capture_output=True, text=True, timeout=20)
    expect(done.returncode == 2 and "unixbench" in done.stderr and done.stdout == "", done.stderr)


CASES = [unixbench, entry, allow_min, cache, snap, a_stack_of_ones_own, a_name_that_is_none]
CONTAINERS = [hook, build]
failed = False
skip = "" if os.geteuid() == 0 and RUNTIMES else "needs root and a runtime"
for case in CASES + CONTAINERS:
    reason = ""
    try:
        if case in CONTAINERS and skip:
            reason = "skipped: " + skip
        elif case is build and not (shutil.which("runc") and shutil.which("g++")):
            reason = "skipped: needs runc and g++"
        else:
            case()
            reason = "ok"
    except (AssertionError, subprocess.TimeoutExpired) as fault:
        reason, failed = f"FAILED: {fault}", True
    print(case.__name__.replace("_", " ") + ": " + reason, flush=True)
sys.exit(1 if failed else 0)
