#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which systemd the hook and `prepare` read unit layers for: this host's, its library's, or that of `host_facts:`.

What every case holds: a container runs under the filters that the host's systemd would install, or the cause and the
commands that mend it are said. The commands are run as they are printed.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import containers
from containers import DEADLINE, expect, filter_count, wait_for
from hook_test import RUNTIMES, expect_record, expect_refused
from prepare_test import Cache

CASES = []
ANALYZE = pathlib.Path("/usr/bin/systemd-analyze")
UNITS = pathlib.Path("/etc/systemd/system")
UNIT = "[Service]\nSystemCallFilter=~@keyring\nSystemCallErrorNumber=93\n"
MARK = 93
FOLDERS = ("/usr/lib/systemd", f"/usr/lib/{os.uname().machine}-linux-gnu/systemd", "/usr/lib64/systemd")


def each(*axes):
    def register(function):
        for value in axes or (None,):
            name = function.__name__.replace("_", " ") + (f" [{value}]" if value else "")
            CASES.append((name, lambda world, v=value: function(*([v] if v else []), world)))
        return function
    return register


class Host:
    """A unit as the only host layer, and what a start and `prepare` make of it."""

    def __init__(self, world, kind="systemd"):
        self.world, self.unit = world, UNITS / f"seccompress-test-{os.getpid()}.service"
        path = world.layer("x.service", UNIT.encode())
        if kind == "unit":
            self.unit.write_text(UNIT)
        self.layer = f"unit:{self.unit.name}" if kind == "unit" else f"systemd:{path}"
        self.facts = world.settings_path.parent / "host-facts.json"
        self.facts.unlink(missing_ok=True)
        self.settings()
        self.cache = Cache(world, fill=False)

    def settings(self, line=""):
        self.world.settings([self.layer], line)

    def use_facts(self, change=None):
        answer = self.world.cli("prepare", "--write-host-facts", self.facts)
        expect(answer.returncode == 0, f"no facts: {answer}")
        if change:
            self.change_facts(change)
        self.settings(f"host_facts: {self.facts}\n")

    def change_facts(self, change):
        facts = json.loads(self.facts.read_text())
        facts["systemd"]["groups_differ"] = change
        self.facts.write_text(json.dumps(facts))

    def start(self, runtime="crun"):
        """What the container was answered, and the record."""
        start = self.cache.run(runtime)
        record = expect_record(self.world, "installed")
        return {call: start.facts()[call] for call in ("keyctl", "acct", "Seccomp_filters")}, record

    def expect_group(self, *calls, runtime="crun"):
        """@keyring has exactly these of the two calls, keyctl and acct."""
        facts, record = self.start(runtime)
        for call in ("keyctl", "acct"):
            expect((facts[call] == MARK) is (call in calls), f"{call} gave {facts[call]}")
        expect(facts["Seccomp_filters"] == filter_count("self") + 1, f"{facts}")
        return record

    def prepared(self):
        answer = self.world.cli(*self.cache.arguments(), "--json")
        expect(answer.returncode == 0, f"not prepared: {answer}")
        return json.loads(answer.stdout), answer.stderr

    def refused(self, *words):
        """prepare's error."""
        answer = self.cache.prepare()
        expect(answer.returncode == 2 and not any(len(name) == 64 for name in self.cache.names()), f"prepared: {answer}")
        for word in words:
            expect(word in answer.stderr, f"'{word}' is not in {answer.stderr!r}")
        return answer.stderr

    def mend(self, error):
        """Does what the message says, as it is printed."""
        command = re.search(r"run `(seccompress .*?)`", error).group(1)
        tools = {"PATH": f"{self.world.root}/bin:/usr/bin:/bin"}
        (self.world.root / "bin").mkdir(exist_ok=True)
        shutil.copy(self.world.tools["cli"], self.world.root / "bin/seccompress")
        subprocess.run(["sh", "-c", command], check=True, capture_output=True, timeout=DEADLINE, env=tools)
        line = re.search(r"add `(host_facts: .*?)`", error)
        if line:
            self.settings(line.group(1) + "\n")


@contextlib.contextmanager
def in_place_of(path, by):
    """In this mount namespace `by` is there."""
    subprocess.run(["mount", "--bind", by, path], check=True, timeout=DEADLINE)
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True, timeout=DEADLINE)


def script(world, text):
    path = world.root / "analyze"
    path.write_text(text)
    path.chmod(0o755)
    return path


def patched_analyze(world):
    """A host whose systemd has acct in @keyring and keyctl not."""
    real = world.root / "real-analyze"
    shutil.copy(ANALYZE, real)
    edit = r"/^@keyring$/,/^$/ s/^    keyctl$/    acct/"
    return script(world, f"#!/bin/sh\n{real} \"$@\" | /usr/bin/sed '{edit}'\n")


@contextlib.contextmanager
def libraries(world, *names):
    """These are the only libraries of systemd on this host. What loads them does not run meanwhile."""
    empty = world.root / "no-libraries"
    shutil.rmtree(empty, ignore_errors=True)
    empty.mkdir()
    for name in names:
        (empty / name).write_text("")
    with contextlib.ExitStack() as stack:
        for folder in FOLDERS:
            if os.path.isdir(folder):
                stack.enter_context(in_place_of(folder, empty))
        yield


def library():
    found = [path for folder in FOLDERS for path in pathlib.Path(folder).glob("libsystemd-shared-*.so")]
    expect(len(found) == 1, f"this host has {found}")
    return str(found[0])


# ---- one systemd -----------------------------------------------------------------------------------------------------
@each(*RUNTIMES)
def a_unit_is_read_for_the_hosts_systemd(runtime, world):
    host = Host(world, "unit")
    try:
        known = {"version": 252, "from": library()}
        expect(host.expect_group("keyctl", runtime=runtime)["systemd"] == known, "another systemd")
        made, said = host.prepared()
        expect(made["systemd"] == known and said == "", f"{made['systemd']} {said}")
        record = host.expect_group("keyctl", runtime=runtime)
        expect(record["prepared"] and record["systemd"] == known, f"{record}")
        expect(host.cache.status()["systemd"] == known, f"{host.cache.status()}")
        text = world.cli("status", "--config", world.settings_path, "--receipts", host.cache.folder).stdout
        expect("units as systemd 252 takes them" in text, text)
    finally:
        host.unit.unlink()


@each()
def the_create_container_route_finds_the_same_systemd(world):
    host = Host(world)
    config = host.cache.config()
    config["hooks"]["createContainer"] = config["hooks"]["createRuntime"]
    facts = world.run("crun", config).facts()
    record = expect_record(world, "installed")
    expect(facts["keyctl"] == MARK and record["route"] == "create-container", f"{facts} {record['route']}")
    expect(record["systemd"] == {"version": 252, "from": library()}, f"{record['systemd']}")


@each()
def layers_that_are_no_units_need_no_systemd(world):
    cache = Cache(world)
    with libraries(world):
        cache.run()
        expect(expect_record(world, "installed")["systemd"] is None, "a systemd")
        cache.expect_good()


@each()
def the_facts_that_are_written_are_the_hosts(world):
    host = Host(world)
    host.use_facts()
    made, said = host.prepared()
    expect(made["systemd"] == {"version": 252, "from": str(host.facts)} and said == "", f"{made['systemd']} {said}")
    expect(host.expect_group("keyctl")["prepared"], "not prepared")
    answer = world.cli("inspect", "--host-facts", host.facts, host.layer, "--json")
    expect(json.loads(answer.stdout)["host"] == json.loads(host.facts.read_text()), f"{answer}")


@each()
def a_running_containers_status_says_which_systemd(world):
    """Layers that are prepared and one that this container selected have one systemd between them."""
    host = Host(world)
    host.use_facts()
    host.settings(f"host_facts: {host.facts}\napply: {{select: [{{annotation: a=b, layers: ['{host.layer}']}}]}}\n")
    host.prepared()
    config = host.cache.config(arguments=("/bin/probe", "wait")) | {"annotations": {"a": "b"}}
    world.start("crun", config).read_until("ready")
    wait_for(lambda: world.records(), "a record")
    record = expect_record(world, "installed")
    expect(record["prepared"] and len(record["host_layers"]) == 2, f"{record}")
    answer = world.cli("status", "--config", world.settings_path, "--receipts", host.cache.folder, "--json")
    shown = json.loads(answer.stdout)["containers"][0]
    expect(shown["systemd"] == {"version": 252, "from": str(host.facts)} and shown["state"] == "up to date", f"{shown}")


# ---- another one ---------------------------------------------------------------------------------------------------
@each()
def facts_with_another_group_make_another_program(world):
    host = Host(world)
    usual = host.expect_group("keyctl")
    host.use_facts(["+@keyring acct", "-@keyring keyctl"])
    record = host.expect_group("acct")
    expect(record["systemd"] == {"version": 252, "from": str(host.facts)}, f"{record['systemd']}")
    expect(record["program_sha256"] != usual["program_sha256"], "the same program")
    error = host.refused("on this host 2 members of its groups are others: +@keyring keyctl, -@keyring acct",
                         f"systemd 252 of {host.facts}", f"run `seccompress prepare --write-host-facts {host.facts}`")
    host.mend(error)
    host.prepared()
    expect(host.expect_group("keyctl")["prepared"], "not prepared")


@each()
def facts_that_change_make_the_preparation_stale(world):
    host = Host(world)
    host.use_facts()
    host.prepared()
    host.change_facts(["+@keyring acct"])
    expect_refused(host.cache.run("runc"), "stale", f"{host.facts} changed")
    expect(host.cache.status()["state"] == "stale", "not stale")


@each()
def facts_that_are_not_roots_are_refused(world):
    host = Host(world)
    host.use_facts()
    os.chown(host.facts, 65534, 65534)
    expect_refused(host.cache.run("runc"), f"{host.facts}: owned by user 65534")
    host.refused("owned by user 65534")


@each()
def a_host_with_patched_groups_is_told_from_the_shipped_ones(world):
    host = Host(world)
    with in_place_of(ANALYZE, patched_analyze(world)):
        error = host.refused(f"units are read for systemd 252 of {library()}", "+@keyring acct, -@keyring keyctl")
        host.mend(error)
        host.prepared()
        expect(host.expect_group("acct")["prepared"], "not prepared")


@each()
def a_host_with_another_version_is_told_from_its_library(world):
    host = Host(world)
    other = script(world, "#!/bin/sh\ncase $1 in --version) echo 'systemd 254 (254.1)';; *) printf '@default\\n    exit\\n\\n@known\\n"
                          "    exit\\n';; esac\n")
    with in_place_of(ANALYZE, other):
        host.refused(f"units are read for systemd 252 of {library()}, and this host has systemd 254", "--write-host-facts")


@each()
def an_upgrade_makes_the_preparation_stale(world):
    host = Host(world)
    host.prepared()
    with libraries(world, "libsystemd-shared-254.so"):
        expect_refused(host.cache.run("runc"), "stale", "the host's systemd changed")
        shutil.rmtree(host.cache.folder)
        expect(host.expect_group("keyctl")["systemd"]["version"] == 254, "not 254")
    expect(host.expect_group("keyctl")["systemd"]["version"] == 252, "not 252")


# ---- none that can be told ---------------------------------------------------------------------------------------------
UNKNOWN = {"none": ((), "there is no libsystemd-shared-VERSION.so"),
           "two": (("libsystemd-shared-252.so", "libsystemd-shared-254.so"), "there are several"),
           "newer": (("libsystemd-shared-999.so",), "systemd 999"),
           "older": (("libsystemd-shared-247.so",), "systemd 247 is older than 252")}


@each(*UNKNOWN)
def a_systemd_that_cannot_be_told(which, world):
    host = Host(world)
    host.use_facts()
    host.settings()
    names, words = UNKNOWN[which]
    with libraries(world, *names):
        expect_refused(host.cache.run("runc"), words)
        host.refused(words)
        if which != "two":
            return
        host.settings(f"host_facts: {host.facts}\n")
        expect(host.expect_group("keyctl")["systemd"]["version"] == 252, "not 252")


@each()
def without_systemd_analyze_nothing_is_compared(world):
    host = Host(world)
    # To execve(2) a script without its interpreter is a program that is not there.
    with in_place_of(ANALYZE, script(world, "#!/nonexistent\n")):
        _, said = host.prepared()
        expect("note: this host has no systemd-analyze" in said and "was not compared" in said, said)
        answer = world.cli("prepare", "--write-host-facts", host.facts)
        expect(answer.returncode == 2 and not host.facts.exists(), f"{answer}")
        expect(host.expect_group("keyctl")["prepared"], "not prepared")


def main():
    version = subprocess.run([ANALYZE, "--version"], capture_output=True, text=True).stdout if ANALYZE.exists() else "none"
    if not version.startswith("systemd 252 "):
        print("skipped: the shipped groups are exact for systemd 252, this is", version.splitlines()[0])
        sys.exit(77)
    return containers.main(CASES, runtimes=RUNTIMES)


if __name__ == "__main__":
    sys.exit(main())
