#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The filters of a hardened service as host layers of real containers: 34 of them, as Debian's redis-server has.

They refuse what a runtime still does after its own filter unless the container has no_new_privs: such a start is refused
before it begins, with the message of design section 5 word for word and nothing left of it; each remedy that the message
names lets the container start.
"""
import contextlib
import itertools
import os
import pathlib
import sys

import containers
from containers import Failed, expect, process_state, read_proc, wait_for
from hook_test import INHERITED, expect_merged, expect_ready, expect_record, expect_refused

CASES = []
ROUTES = (("runc", "createRuntime"), ("crun", "createRuntime"), ("crun", "createContainer"))
LAYERS = ("the unit", "the unit without an errno", "the filters of Debian's redis-server")
FILTERS = 34
# What each runtime asks for after the install, and these layers refuse: lib/abi/runtime_needs.def.
REFUSED_CALLS = {"runc": "setgroups, setuid, capset", "crun": "setresuid, capset"}


def each(*axes):
    def register(function):
        for values in itertools.product(*axes):
            label = ", ".join(v if isinstance(v, str) else " ".join(v) for v in values)
            CASES.append((f"{function.__name__.replace('_', ' ')} [{label}]", lambda world, v=values: function(*v, world)))
        return function
    return register


class Missing(Exception):
    """The corpus is not there."""


def unit_text(world, without=()):
    lines = world.unit.read_text().splitlines(keepends=True)
    kept = [line for line in lines if not line.startswith(tuple(without))] if without else lines
    expect(not without or len(kept) < len(lines), f"the unit has no {without}")
    return "".join(kept).encode()


def use(world, layers):
    """Makes them the only host layers. The layer as messages name it, who in it refuses, and the verdict."""
    if layers == LAYERS[2]:
        folder = world.corpus / "systemd-live/redis-server__redis-server"
        if not folder.is_dir():
            raise Missing
        for path in folder.glob("*.bpf"):
            world.layer(f"redis-server/{path.name}", path.read_bytes())
        name, who, verdict = f"dir:{world.layers}/redis-server", f"filter f.{FILTERS - 1}.bpf,", "KILL_PROCESS"
    else:
        errno = layers == LAYERS[0]
        text = unit_text(world, () if errno else ("SystemCallErrorNumber=",))
        line = 1 + text.split(b"\n").index(b"SystemCallFilter=~@privileged @resources")
        name = f"systemd:{world.layer('strict-service.conf', text)}"
        who = f"filter SystemCallFilter= (x86_64), the rule at line {line},"
        verdict = "ERRNO(1 EPERM)" if errno else "KILL_PROCESS"
    world.settings([name])
    return name, who, verdict


def left_behind(world):
    """Everything of a start that outlives it: the runtimes' states, mounts, cgroups, processes."""
    own = str(world.root)
    found = [str(path) for runtime in ("runc", "crun") for path in (world.root / f"state-{runtime}").glob("*")]
    found += [line for line in read_proc("self", "mountinfo").splitlines() if own in line]
    # Real ones: crun 1.8.1 leaves an ordinary folder where a v2 hierarchy was before we unmounted it, whatever refuses a start.
    found += [str(path) for level in ("", "*/") for path in pathlib.Path("/sys/fs/cgroup").glob(f"{level}sct-{os.getpid()}-*")
              if (path / "notify_on_release").exists() or (path / "cgroup.controllers").exists()]
    for process in pathlib.Path("/proc").iterdir():
        if process.name.isdigit() and own in read_proc(process.name, "cmdline") and process_state(process.name) not in ("Z", ""):
            if int(process.name) != os.getpid():
                found.append(process.name + ": " + read_proc(process.name, "cmdline"))
    return found


def stages(world, stage):
    # The createContainer call takes the file's route; without the other one beside it nothing checks beforehand.
    return {"createRuntime": [world.hook()], **({stage: [world.hook()]} if stage != "createRuntime" else {})}


@each(LAYERS, ROUTES)
def without_no_new_privs_the_start_is_refused(layers, route, world):
    runtime, stage = route
    try:
        name, who, verdict = use(world, layers)
    except Missing:
        return "no corpus"
    before = left_behind(world)
    start = world.run(runtime, world.config(False, stages=stages(world, stage), arguments=("/bin/probe", "status")))
    calls = REFUSED_CALLS[runtime]
    cause = (f"the container could not start: {runtime} still needs {calls} after its filter is in force, and layer {name}, {who} "
             f"answers {verdict}; start it with `noNewPrivileges: true`, or use that layer without the group that has "
             f"{calls.split(',')[0]}")
    expect_refused(start, "seccompress-hook: error: " + cause)
    record = expect_record(world, "refused")
    expect(record["cause"] == cause, f"the record's cause: {record['cause']!r}")
    expect(len(world.records()) == 1, f"{len(world.records())} records")
    expect(record["no_new_privs"] is False and record["filters"]["after"] == 0, f"{record}")
    expect(not start.pid_file.exists(), "the runtime wrote a pid")
    with contextlib.suppress(Failed):
        wait_for(lambda: left_behind(world) == before, "", 5)
    left = set(left_behind(world)) - set(before)
    expect(not left, f"left behind: {left}")
    return None


def expect_started_under(world, name, runtime, nnp, stage):
    own = world.runtimes_own_program(runtime, nnp, containers.PROFILE)
    config = world.config(nnp, stages=stages(world, stage), arguments=("/bin/probe", "status"))
    start = world.start(runtime, config).read_until("ready")
    expect_ready(start)
    expect_merged(start, {})
    expect(start.facts()["NoNewPrivs"] == nnp, "no_new_privs is not what was asked for: " + start.output)
    equal = world.check_live("equal", start.init_pid(), INHERITED, name, f"bpf:{own}")
    expect(equal.returncode == 0, "the live filter is not the stack: " + equal.stderr)
    wait_for(lambda: world.records(), "a record in the log")
    record = expect_record(world, "installed")
    expect(record["route"] == ("create-container" if stage == "createContainer" else "ptrace-hook"), f"route {record['route']}")
    expect(record["mismatch"] == "" and record["unmet_needs"] == [], f"{record}")
    return record


@each(LAYERS, ROUTES)
def with_no_new_privs_it_starts_under_one_filter_equal_to_all(layers, route, world):
    try:
        name, _, _ = use(world, layers)
    except Missing:
        return "no corpus"
    record = expect_started_under(world, name, route[0], True, route[1])
    expect([layer["filters"] for layer in record["layers"]] == [FILTERS, 1], f"layers: {record['layers']}")
    expect(record["filters"] == {"before": FILTERS + 1, "after": 1, "inherited": INHERITED}, f"filters: {record['filters']}")
    return None


@each(ROUTES)
def without_the_group_it_starts_without_no_new_privs(route, world):
    text = unit_text(world).replace(b"SystemCallFilter=~@privileged @resources", b"SystemCallFilter=~@resources")
    expect(text != unit_text(world), "the unit has no such line")
    name = f"systemd:{world.layer('strict-service.conf', text)}"
    world.settings([name])
    expect_started_under(world, name, route[0], False, route[1])


def main():
    def prepare(world, arguments):
        world.unit, world.corpus = pathlib.Path(arguments.unit), pathlib.Path(arguments.corpus)
    return containers.main(CASES, "--unit", "--corpus", prepare=prepare)


if __name__ == "__main__":
    sys.exit(main())
