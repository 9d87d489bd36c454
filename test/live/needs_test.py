#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds lib/abi/runtime_needs.def to the real runc and crun, without our hook: each line by itself (refused with an
errno, and killed), and the list as a whole (nothing else is allowed)."""
import argparse
import os
import re
import sys

import containers
from containers import expect


def read_needs(path):
    """[(runtime, nnp, call, need, made)], `both` as two lines."""
    needs = []
    for line in open(path, encoding="utf-8"):
        match = re.match(r"NEED\((\w+), (\w+), (\w+), .*, (\w+), (\w+)\)", line)
        if match:
            runtime, privileges, call, need, made = match.groups()
            for nnp in (False, True):
                if privileges in ("both", "on" if nnp else "off"):
                    needs.append((runtime, nnp, call, need, made))
    return needs


def starts(world, runtime, nnp, default, entries):
    profile = {"defaultAction": default, "architectures": ["SCMP_ARCH_X86_64"], "syscalls": entries}
    start = world.run(runtime, world.config(nnp, profile, stages={}, arguments=("/bin/probe",)))
    return start.process.returncode == 42, start.error


def one_line(runtime, nnp, call, need):
    def check(world):
        started, error = starts(world, runtime, nnp, "SCMP_ACT_ALLOW", [containers.rule(call, 1)])
        if need == "answered":
            expect(not started, f"{call} with EPERM: it started all the same: the line must say survived")
        else:
            expect(started, f"{call} with EPERM: it did not start: the line must say answered; {error}")
        started, error = starts(world, runtime, nnp, "SCMP_ACT_ALLOW", [{"names": [call], "action": "SCMP_ACT_KILL_PROCESS"}])
        expect(not started, f"{call} killed: it started all the same: the call is not needed")
    return check


def the_list(runtime, nnp, calls):
    def check(world):
        allowed = [{"names": sorted(calls | {"exit_group"}), "action": "SCMP_ACT_ALLOW"}]
        started, error = starts(world, runtime, nnp, "SCMP_ACT_KILL_PROCESS", allowed)
        expect(started, f"it needs more than the list: {error}")
    return check


def main():
    parser = argparse.ArgumentParser()
    for name in ("--probe", "--needs"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    containers.skip_unless_possible()
    containers.enter_private_mounts()
    needs = read_needs(arguments.needs)
    cases = [(f"{call} is {need} [{runtime} NNP={nnp:d}]", one_line(runtime, nnp, call, need))
             for runtime, nnp, call, need, made in needs if made == "always"]
    for runtime in ("runc", "crun"):
        for nnp in (False, True):
            calls = {call for r, n, call, _, _ in needs if (r, n) == (runtime, nnp)}
            cases.append((f"the list is complete [{runtime} NNP={nnp:d}]", the_list(runtime, nnp, calls)))
    with containers.World(arguments) as world:
        return containers.run_cases(cases, world, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
