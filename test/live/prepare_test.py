#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`seccompress prepare` and the receipt that the hook takes the host layers from, under every fault, on real runtimes.

What every case holds: a container runs under the whole stack or not at all; the cause is in the runtime's error or in
the record; no process and no half-written file is left behind.
"""
import argparse
import contextlib
import fcntl
import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys

import containers
import hook_test
from containers import (DEADLINE, KILL_PROCESS, PROFILE, bpf, errno_verdict, expect, rule, wait_for)
from hook_test import INHERITED, MARKERS, PRIVILEGED, RUNTIMES, expect_merged, expect_record, expect_refused

CASES = []
HASH = 64
UNCONFINED = {"umask": 97, "sethostname": 96, "acct": 95, "uname": 0}  # the host layers alone
RUNTIME_OF_CASE = itertools.cycle(RUNTIMES)


def each(*axes):
    """The case once per combination. An axis's values are words, or a dictionary's words and what they stand for."""
    def register(function):
        for values in itertools.product(*axes):
            label = " ".join("NNP=%d" % v if isinstance(v, bool) else str(v) for v in values)
            chosen = [axis[v] if isinstance(axis, dict) else v for axis, v in zip(axes, values)]
            name = function.__name__.replace("_", " ") + (f" [{label}]" if label else "")
            CASES.append((name, lambda world, v=chosen: function(*v, world)))
        return function
    return register


class Cache:
    """A folder of receipts, and hooks that use it."""

    def __init__(self, world, folder=None, fill=True):
        self.world, self.folder = world, folder or world.root / "receipts"
        if folder is None:
            shutil.rmtree(self.folder, ignore_errors=True)
        if fill:
            answer = self.prepare()
            expect(answer.returncode == 0 and "1 filter" in answer.stdout, f"prepare failed: {answer}")

    def arguments(self):
        return ["prepare", "--config", self.world.settings_path, "--receipts", self.folder]

    def prepare(self):
        return self.world.cli(*self.arguments())

    def names(self):
        """Without the programs that starts composed: see merged()."""
        return sorted(path.name for path in self.folder.iterdir() if path.name != "merged")

    def merged(self):
        folder = self.folder / "merged"
        return sorted(folder.iterdir()) if folder.exists() else []

    def receipt(self):
        entries = [name for name in self.names() if len(name) == HASH]
        expect(len(entries) == 1 and len(self.names()) == 2, f"not one receipt and its label: {self.names()}")
        return self.folder / entries[0]

    def label(self):
        labels = [name for name in self.names() if name.startswith("host-")]
        expect(len(labels) == 1, f"not one label: {self.names()}")
        return self.folder / labels[0]

    def config(self, nnp=True, profile=PROFILE, **fields):
        return self.world.config(nnp, profile, stages={"createRuntime": [self.world.hook("hook", "--receipts", self.folder)]}, **fields)

    def run(self, runtime=None, nnp=True, profile=PROFILE):
        before = len(self.world.records())
        start = self.world.run(runtime or next(RUNTIME_OF_CASE), self.config(nnp, profile))
        # The tracer writes it after it let the container go, which may be over before.
        wait_for(lambda: len(self.world.records()) > before, "a record in the log: " + start.error)
        return start

    def status(self):
        answer = self.world.cli("status", "--config", self.world.settings_path, "--receipts", self.folder, "--json")
        return json.loads(answer.stdout)["prepared"] | {"exit": answer.returncode}

    def expect_good(self):
        """It holds one receipt, that one is used, and nothing is said about it."""
        self.receipt()
        shown = self.status()
        expect(shown["state"] == "up to date" and shown["exit"] == 0, f"{shown}")


def expect_started(world, start, prepared, *notes, markers=MARKERS):
    expect(world.records(), "no record: " + start.error)
    expect_merged(start, markers)
    record = expect_record(world, "installed")
    expect(record["prepared"] is prepared, f"prepared is {record['prepared']}: {record['notes']}")
    expect([layer["filters"] for layer in record["layers"]][:2] == [2, 1], f"layers: {record['layers']}")
    for note in notes:
        expect(any(note in text for text in record["notes"]), f"'{note}' is not noted: {record['notes']}")
    if not notes:
        expect(record["notes"] == [], f"notes: {record['notes']}")
    return record


# ---- what it is for ----------------------------------------------------------------------------------------------
@each(RUNTIMES, (False, True), ("profile", "no profile"))
def the_prepared_program_is_used(runtime, nnp, kind, world):
    cache = Cache(world)
    markers, profile = (MARKERS, PROFILE) if kind == "profile" else (UNCONFINED, None)
    expect_started(world, cache.run(runtime, nnp, profile), True, markers=markers)
    cache.expect_good()


@each()
def prepare_says_what_it_made(world):
    cache = Cache(world, fill=False)
    answer = world.cli(*cache.arguments(), "--json")
    made = json.loads(answer.stdout)
    expect([layer["filters"] for layer in made["layers"]] == [2, 1], f"{made}")
    files = [path for path in made["inputs"] if path["path"].endswith(".bpf")]
    expect(len(files) == 3, f"{made['inputs']}")
    for file in files:
        with open(file["path"], "rb") as content:
            expect(hashlib.sha256(content.read()).hexdigest() == file["sha256"], f"{file}")
    data = cache.receipt().read_bytes()
    start, stop = regions(data)["program"]
    expect(hashlib.sha256(data[start:stop]).hexdigest() == made["program_sha256"] == cache.status()["program_sha256"], f"{made}")
    expect(made["instructions"] * 8 == stop - start and made["timings_us"]["preparing"] > 0, f"{made}")
    text = world.cli("status", "--config", world.settings_path, "--receipts", cache.folder).stdout
    expect(f"prepared: up to date (program {made['program_sha256'][:12]})" in text, text)


@each((False, True))
def the_prepared_program_is_used_by_the_create_container_route(nnp, world):
    cache = Cache(world)
    config = cache.config(nnp)
    config["hooks"]["createContainer"] = config["hooks"]["createRuntime"]
    start = world.run("crun", config)
    expect(expect_started(world, start, True)["route"] == "create-container", "another route")
    cache.expect_good()


@each(RUNTIMES)
def a_warning_about_a_prepared_layer_is_in_each_record(runtime, world):
    misspelt = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule("umaskk", 12)]}
    path = world.layer("misspelt.json", json.dumps(misspelt).encode())
    world.settings(world.default_layers + [f"docker:{path}"])
    cache = Cache(world)
    for _ in range(2):
        notes = expect_started(world, cache.run(runtime), True, "umaskk")["notes"]
        expect(len(notes) == 1 and "misspelt.json" in notes[0], f"notes: {notes}")


@each(RUNTIMES)
def a_refusal_under_a_prepared_program_still_names_the_layer(runtime, world):
    world.layer("stack/02.bpf", bpf(*((name, KILL_PROCESS) for name in PRIVILEGED[runtime])))
    start = Cache(world).run(runtime, False)
    expect_refused(start, "still needs", f"layer dir:{world.layers}/stack, filter 02.bpf")


# ---- stale -------------------------------------------------------------------------------------------------------
def change_content(world):
    path = world.layers / "umask97.bpf"
    before = path.stat()
    path.write_bytes(bpf(("umask", errno_verdict(98))))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    expect(path.stat().st_size == before.st_size, "another size")


def change_size(world):
    path = world.layers / "umask97.bpf"
    before = path.stat()
    path.write_bytes(bpf(("umask", errno_verdict(97)), padding=1))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def change_mtime(world):
    path = world.layers / "umask97.bpf"
    os.utime(path, ns=(0, path.stat().st_mtime_ns + 1))


def change_path(world):
    (world.layers / "umask97.bpf").rename(world.layers / "umask97-new.bpf")


STALE = {
    "content": change_content, "size": change_size, "mtime": change_mtime, "path": change_path,
    "owner": lambda world: os.chown(world.layers / "umask97.bpf", 65534, 65534),
    "a new file in a folder": lambda world: world.layer("stack/09.bpf", bpf()),
    "a file less in a folder": lambda world: (world.layers / "stack/01.bpf").unlink(),
    "the configuration": lambda world: world.settings(world.default_layers[:1])}


@each(STALE)
def a_stale_preparation_is_refused(change, world):
    runtime = next(RUNTIME_OF_CASE)
    cache = Cache(world)
    change(world)
    expect_refused(cache.run(runtime), "stale", "seccompress prepare")
    expect_record(world, "refused", "stale")
    shown = cache.status()
    expect(shown["state"] == "stale" and shown["why"] and shown["exit"] == 1, f"{shown}")
    shutil.rmtree(world.layers)
    world.layers.mkdir()
    world.write_default_settings()
    expect(cache.prepare().returncode == 0, "not prepared again")
    expect_started(world, cache.run(runtime), True)
    cache.expect_good()


# ---- a receipt or a label that is not what was written -------------------------------------------------------------
def regions(data):
    """Where each part of a receipt lies, by name."""
    found, at = {"magic": (0, data.index(b"\n"))}, data.index(b"\n") + 1
    for name in ("inputs", "about", "program"):
        line = data.index(b"\n", at)
        size = int(data[at:line].split()[1])
        found[name + "'s header"], found[name] = (at, line), (line + 1, line + 1 + size)
        at = line + 1 + size + 1
    found["checksum"] = (at, at + HASH)
    expect(at + HASH + 1 == len(data), "no receipt")
    return found


def flip(path, region, end):
    data = bytearray(path.read_bytes())
    start, stop = regions(bytes(data))[region]
    data[start if end == "first" else stop - 1] ^= 1
    path.write_bytes(data)


def truncate(path, region):
    data = path.read_bytes()
    path.write_bytes(data[:sum(regions(data)[region]) // 2])


def replace_by_folder(path):
    path.unlink()
    path.mkdir()


def replace_by_link(path):
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


def replace_by_fifo(path):
    path.unlink()
    os.mkfifo(path, 0o600)


PARTS = ("magic", "inputs's header", "inputs", "about's header", "about", "program's header", "program", "checksum")
DAMAGES = {
    "empty": lambda path: path.write_bytes(b""), "a folder": replace_by_folder, "a link": replace_by_link, "a FIFO": replace_by_fifo,
    "another owner": lambda path: os.chown(path, 65534, 0), "mode 0644": lambda path: path.chmod(0o644),
    "mode 0602": lambda path: path.chmod(0o602), "set-uid": lambda path: path.chmod(0o4600),
    "a hard link": lambda path: os.link(path, path.with_suffix(".link")),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"\n"), "too large": lambda path: os.truncate(path, (4 << 20) + 1)}
PART_DAMAGES = {f"{part}, {where} byte": lambda path, p=part, w=where: flip(path, p, w)
                for part, where in itertools.product(PARTS, ("first", "last"))}
PART_DAMAGES |= {f"cut off in {part}": lambda path, p=part: truncate(path, p) for part in PARTS}
RECEIPT_DAMAGES = DAMAGES | {"gone": lambda path: path.unlink()} | {
    name: PART_DAMAGES[name] for name in ("inputs, first byte", "program, last byte", "checksum, first byte", "cut off in program")}
LABEL_DAMAGES = DAMAGES | {
    "other hash": lambda path: path.write_text("0" * HASH + "\n"), "a path": lambda path: path.write_text("../x" + "0" * 60 + "\n"),
    "no line end": lambda path: path.write_text("0" * HASH)}


def expect_made_again(cache, path, good, world):
    expect_started(world, cache.run(), True, "prepared again")
    expect(path.is_file() and not path.is_symlink() and path.read_bytes() == good, "not as it was")
    status = path.stat()
    expect((status.st_mode & 0o7777, status.st_uid, status.st_nlink) == (0o600, 0, 1), f"{status}")
    for left in cache.folder.glob("*.real"), cache.folder.glob("*.link"):
        for beside in left:
            beside.unlink()
    cache.expect_good()


@each(RECEIPT_DAMAGES)
def a_damaged_receipt_is_made_again(damage, world):
    cache = Cache(world)
    path = cache.receipt()
    good = path.read_bytes()
    damage(path)
    expect(cache.status()["state"] == "unusable", f"{cache.status()}")
    expect_made_again(cache, path, good, world)


@each()
def damage_to_any_part_of_a_receipt_is_seen(world):
    cache = Cache(world)
    path = cache.receipt()
    good = path.read_bytes()
    for name, damage in PART_DAMAGES.items():
        damage(path)
        expect(path.read_bytes() != good and cache.status()["state"] == "unusable", f"{name}: {cache.status()}")
        path.write_bytes(good)
        path.chmod(0o600)
    cache.expect_good()


@each(LABEL_DAMAGES)
def a_damaged_label_is_made_again(damage, world):
    cache = Cache(world)
    path = cache.label()
    good = path.read_bytes()
    damage(path)
    expect_made_again(cache, path, good, world)


@each(("receipt", "label"))
def a_folder_with_something_in_it_in_the_place_of(what, world):
    cache = Cache(world)
    path = getattr(cache, what)()
    replace_by_folder(path)
    (path / "x").write_text("")
    expect_started(world, cache.run(), False, "not a regular file", "not prepared again")
    expect("new" not in cache.names(), f"left behind: {cache.names()}")


def rewrite(cache, change):
    """The receipt with other words, right in all that a reader can check: checksum, name, label."""
    path = cache.receipt()
    data = path.read_bytes()
    parts = {name: data[start:stop] for name, (start, stop) in regions(data).items()}
    parts.update(change(parts))
    body = b"seccompress receipt 1\n" + b"".join(
        b"%s %d\n%s\n" % (name.encode(), len(parts[name]), parts[name]) for name in ("inputs", "about", "program"))
    path.unlink()
    name = hashlib.sha256(parts["inputs"]).hexdigest()
    for file, content in ((name, body + hashlib.sha256(body).hexdigest().encode() + b"\n"), (cache.label().name, name.encode() + b"\n")):
        (cache.folder / file).write_bytes(content)
        (cache.folder / file).chmod(0o600)


def other_word(key):
    def change(parts):
        inputs = json.loads(parts["inputs"])
        inputs[key] = "other"
        return {"inputs": json.dumps(inputs, separators=(",", ":")).encode()}
    return change


FORGED = {
    "another build": (other_word("build"), "another build or kernel"), "another kernel": (other_word("kernel"), "another build or kernel"),
    "another configuration": (other_word("settings"), "another one's"),
    "no JSON": (lambda parts: {"inputs": b"{"}, "another one's"), "no layers": (lambda parts: {"about": b'{"layers":[],"warnings":[]}'}, "another"),
    "a program that no kernel takes": (lambda parts: {"program": parts["program"][:-8]}, "receipt"),
    "no program": (lambda parts: {"program": b""}, "receipt")}


@each(FORGED)
def a_right_receipt_of_something_else_is_made_again(forged, world):
    cache = Cache(world)
    path = cache.receipt()
    good = path.read_bytes()
    rewrite(cache, lambda parts: {})
    cache.expect_good()
    rewrite(cache, forged[0])
    expect_started(world, cache.run(), True, "prepared again", forged[1])
    expect(path.read_bytes() == good, "not as it was")
    cache.expect_good()


# ---- the folder --------------------------------------------------------------------------------------------------
@each(RUNTIMES)
def without_a_folder_the_layers_are_compiled(runtime, world):
    cache = Cache(world, fill=False)
    expect(cache.status()["state"] == "none", "there is something")
    expect_started(world, cache.run(runtime), False)
    expect(not cache.folder.exists(), "the hook made it")


def behind_a_link(path):
    path.rename(path.with_name("real-receipts"))
    path.symlink_to(path.with_name("real-receipts"))


FOLDERS = {"mode 0755": lambda path: path.chmod(0o755), "mode 0770": lambda path: path.chmod(0o770),
           "mode 0702": lambda path: path.chmod(0o702), "sticky": lambda path: path.chmod(0o1700),
           "another owner": lambda path: os.chown(path, 65534, 0), "a link": behind_a_link}


@each(FOLDERS)
def a_folder_that_others_may_touch_is_not_believed(fault, world):
    cache = Cache(world)
    before = cache.names()
    fault(cache.folder)
    try:
        expect_started(world, cache.run(), False, "not prepared", str(cache.folder))
        answer = cache.prepare()
        expect(answer.returncode == 2 and str(cache.folder) in answer.stderr, f"{answer}")
        expect(cache.names() == before, f"written to: {cache.names()}")
    finally:
        if cache.folder.is_symlink():
            cache.folder.unlink()
            shutil.rmtree(cache.folder.with_name("real-receipts"))


@each(("a folder above it that others may write to",))
def a_receipt_below(_, world):
    above = world.root / "open"
    above.mkdir()
    cache = Cache(world, above / "receipts")
    above.chmod(0o777)
    try:
        expect_started(world, cache.run(), False, "not prepared", f"{above}: writable by group or others")
    finally:
        shutil.rmtree(above)


@each(("0", "0777"))
def the_umask_changes_nothing(umask, world):
    cache = Cache(world, fill=False)
    answer = subprocess.run([world.tools["cli"], *map(str, cache.arguments())], umask=int(umask, 8), timeout=DEADLINE, capture_output=True)
    expect(answer.returncode == 0, f"{answer}")
    expect([path.stat().st_mode & 0o7777 for path in (cache.folder, cache.receipt(), cache.label())] == [0o700, 0o600, 0o600], "modes")
    cache.expect_good()


@contextlib.contextmanager
def tiny_disk(world, size="16k"):
    folder = world.root / "tiny"
    folder.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=0700", "tmpfs", folder], check=True, timeout=DEADLINE)
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True, timeout=DEADLINE)


def fill(folder):
    with contextlib.suppress(OSError), (folder / "ballast").open("wb", buffering=0) as ballast:
        while ballast.write(b"x" * 4096):
            pass


@each(RUNTIMES)
def a_full_disk_leaves_no_half_receipt_and_stops_no_container(runtime, world):
    with tiny_disk(world) as folder:
        fill(folder)
        cache = Cache(world, folder, fill=False)
        answer = cache.prepare()
        expect(answer.returncode == 2 and "No space left" in answer.stderr, f"{answer}")
        expect(cache.names() == ["ballast"], f"left behind: {cache.names()}")
        expect_started(world, cache.run(runtime), False, "the program was not kept", "No space left")


@each(RUNTIMES, ("receipt", "label"))
def a_disk_that_is_full_when_it_is_made_again(runtime, what, world):
    with tiny_disk(world) as folder:
        cache = Cache(world, folder)
        damaged = getattr(cache, what)()
        damaged.write_bytes(b"")
        fill(folder)
        expect_started(world, cache.run(runtime), False, "not prepared again", "No space left")
        expect(damaged.read_bytes() == b"" and "new" not in cache.names(), f"{cache.names()}")
        (folder / "ballast").unlink()
        expect_started(world, cache.run(runtime), True, "prepared again")
        cache.expect_good()


@each(RUNTIMES)
def a_folder_that_is_read_only(runtime, world):
    with tiny_disk(world) as folder:
        cache = Cache(world, folder)
        remount = ["mount", "-o", "remount,%s,size=16k,mode=0700", "tmpfs", folder]
        subprocess.run([w % "ro" if isinstance(w, str) and "%" in w else w for w in remount], check=True, timeout=DEADLINE)
        expect_started(world, cache.run(runtime), True, "the program was not kept", "Read-only file system")
        expect(cache.prepare().returncode == 2, "prepared")
        subprocess.run([w % "rw" if isinstance(w, str) and "%" in w else w for w in remount], check=True, timeout=DEADLINE)
        cache.receipt().write_bytes(b"")
        subprocess.run([w % "ro" if isinstance(w, str) and "%" in w else w for w in remount], check=True, timeout=DEADLINE)
        expect_started(world, cache.run(runtime), False, "not prepared again", "Read-only file system")


# ---- programs that an earlier start composed -------------------------------------------------------------------------
ROUTES = {"runc, traced": ("runc", False), "crun, traced": ("crun", False), "crun, its file": ("crun", True)}
ONE_ROUTE = {"crun, its file": ROUTES["crun, its file"]}
OTHER_PROFILE = dict(PROFILE, syscalls=[rule("uname", 98)])
KEPT_PROGRAMS = 64


class Starts:
    """The same container again and again, by one route; each is compared with its layers while it lives."""

    def __init__(self, world, cache, route):
        self.world, self.cache, (self.runtime, self.by_file) = world, cache, route

    def config(self, profile=PROFILE):
        config = self.cache.config(True, profile, arguments=("/bin/probe", "wait"))
        if self.by_file:
            config["hooks"]["createContainer"] = config["hooks"]["createRuntime"]
        return config

    def start(self, cached, profile=PROFILE, *notes):
        own = self.world.runtimes_own_program(self.runtime, True, profile)
        before = len(self.world.records())
        start = self.world.start(self.runtime, self.config(profile)).read_until("ready")
        hook_test.expect_ready(start)
        equal = self.world.check_live("equal", start.init_pid(), INHERITED, *self.world.default_layers, f"bpf:{own}")
        expect(equal.returncode == 0, "the live filter is not the stack: " + equal.stderr)
        wait_for(lambda: len(self.world.records()) > before, "a record in the log")
        record = expect_record(self.world, "installed")
        self.world.remove(start)
        expect(record["route"] == ("create-container" if self.by_file else "ptrace-hook"), f"route {record['route']}")
        expect(record["cached"] is cached, f"cached is {record['cached']}: {record['notes']}")
        expect([layer["filters"] for layer in record["layers"]] == [2, 1, 1], f"layers: {record['layers']}")
        expect(bool(notes) == bool(record["notes"]), f"notes: {record['notes']}")
        for note in notes:
            expect(any(note in text for text in record["notes"]), f"'{note}' is not noted: {record['notes']}")
        return record


@each(ROUTES)
def a_second_start_takes_the_first_ones_program(route, world):
    cache = Cache(world)
    starts = Starts(world, cache, route)
    first, second = starts.start(False), starts.start(True)
    same = ("layers", "filters", "instructions", "flags", "program_sha256", "mismatch", "unmet_needs", "notes", "inputs_sha256")
    expect([first[key] for key in same] == [second[key] for key in same], f"{first} {second}")
    starts.start(False, OTHER_PROFILE)
    world.layer("umask97.bpf", bpf(("umask", errno_verdict(97)), ("keyctl", errno_verdict(94))))
    expect(cache.prepare().returncode == 0, "not prepared")
    starts.start(False)
    cache.expect_good()
    expect("new" not in [path.name for path in cache.merged()], "left behind")


@each()
def without_a_profile_and_layers_that_are_not_prepared(world):
    cache = Cache(world, fill=False)
    cache.folder.mkdir(mode=0o700)
    for cached in (False, True):
        record = expect_started(world, cache.run("crun", True, None), False, markers=UNCONFINED)
        expect(record["cached"] is cached, f"cached is {record['cached']}")


PROGRAM_DAMAGES = {"another owner": DAMAGES["another owner"], "cut off": PART_DAMAGES["cut off in about"],
                   "one bit of the program": PART_DAMAGES["program, last byte"]}
DAMAGED = dict(zip((f"{damage}; {route}" for damage, route in zip(PROGRAM_DAMAGES, ROUTES)),
                   zip(PROGRAM_DAMAGES.values(), ROUTES.values())))


# test/unit/receipt has every other damage.
@each(DAMAGED)
def a_damaged_program_is_composed_again(damaged, world):
    damage, route = damaged
    cache = Cache(world)
    starts = Starts(world, cache, route)
    starts.start(False)
    for path in cache.merged():
        damage(path)
    starts.start(False, PROFILE, "composed again: ")
    starts.start(True)


@each(ONE_ROUTE)
def another_programs_receipt_in_its_place_is_not_taken(route, world):
    cache = Cache(world)
    starts = Starts(world, cache, route)
    starts.start(False)
    before = cache.merged()
    starts.start(False, OTHER_PROFILE)
    for path in set(cache.merged()) - set(before):
        path.write_bytes(before[-1].read_bytes())
    starts.start(False, OTHER_PROFILE, "its name is not the hash of its inputs")


@each(ROUTES)
def programs_that_a_full_disk_has_no_room_for(route, world):
    with tiny_disk(world) as folder:
        cache = Cache(world, folder)
        starts = Starts(world, cache, route)
        fill(folder)
        starts.start(False, PROFILE, "the program was not kept", "No space left")
        expect(all(path.name != "new" for path in cache.merged()), "left behind")


@each(ONE_ROUTE)
def the_oldest_program_makes_room(route, world):
    cache = Cache(world)
    starts = Starts(world, cache, route)
    starts.start(False)
    kept = cache.merged()
    for number in range(KEPT_PROGRAMS - len(kept)):
        path = cache.folder / "merged" / hashlib.sha256(b"%d" % number).hexdigest()
        path.write_bytes(b"")
        os.utime(path, (number, number))
    starts.start(False, OTHER_PROFILE)
    left = cache.merged()
    expect(len(left) == KEPT_PROGRAMS and set(kept) < set(left), f"{len(left)} programs")
    expect(cache.folder / "merged" / hashlib.sha256(b"0").hexdigest() not in left, "the oldest is there")
    starts.start(True)


@each(("crun",))
def nobody_waits_for_who_keeps_a_program(runtime, world):
    cache = Cache(world)
    (cache.folder / "merged").mkdir(mode=0o700)
    folder = os.open(cache.folder / "merged", os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        expect(expect_started(world, cache.run(runtime), True)["cached"] is False, "cached")
        expect(cache.merged() == [], f"{cache.merged()}")
    finally:
        os.close(folder)
    expect(expect_started(world, cache.run(runtime), True)["cached"] is False, "cached")
    expect(expect_started(world, cache.run(runtime), True)["cached"] is True, "not cached")


@each(("crun",))
def several_first_starts_at_once(runtime, world):
    cache = Cache(world)
    starts = [world.start(runtime, cache.config()) for _ in range(4)]
    for start in starts:
        expect_merged(start.finish())
    wait_for(lambda: len(world.records()) == len(starts), "a record of each")
    expect(all(record["outcome"] == "installed" and not record["notes"] for record in world.records()), "not all installed")
    expect(all(len(path.name) == HASH for path in cache.merged()) and cache.merged(), f"{cache.merged()}")
    expect(expect_started(world, cache.run(runtime), True)["cached"] is True, "not cached")


# ---- who writes is killed, fails, or is not alone -------------------------------------------------------------------
# In the order of writing: the receipt's fsync and rename, the label's, the folder's fsync, the old receipt's end.
WRITING = ("fsync:1", "renameat:1", "fsync:2", "renameat:2", "fsync:3", "unlinkat:1")


def injected(step, what, command):
    call, when = step.split(":")
    return ["strace", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{what}:when={when}", *map(str, command)]


def prepare_injected(cache, step, what):
    return subprocess.run(injected(step, what, [cache.world.tools["cli"], *cache.arguments()]), capture_output=True, text=True,
                          timeout=DEADLINE)


@each(WRITING[:-1])
def the_first_prepare_is_killed_at(step, world):
    cache = Cache(world, fill=False)
    expect(prepare_injected(cache, step, "signal=KILL").returncode != 0, "not killed")
    expect_started(world, cache.run(), step == "fsync:3")
    expect(cache.prepare().returncode == 0, "not prepared")
    cache.expect_good()


@each(WRITING)
def another_prepare_is_killed_at(step, world):
    cache = Cache(world)
    world.settings(list(reversed(world.default_layers)))
    expect(prepare_injected(cache, step, "signal=KILL").returncode != 0, "not killed")
    start = cache.run()
    if step in ("fsync:3", "unlinkat:1"):
        expect_merged(start, MARKERS | {"umask": 11})
    else:
        expect_refused(start, "stale")
    world.write_default_settings()
    expect(cache.prepare().returncode == 0, "not prepared")
    expect("new" not in cache.names(), f"left behind: {cache.names()}")
    expect_started(world, cache.run(), True)


@each(WRITING[:-1])
def a_write_that_fails_at(step, world):
    for error in ("EIO", "ENOSPC"):
        cache = Cache(world, fill=False)
        answer = prepare_injected(cache, step, f"error={error}")
        expect(answer.returncode == 2, f"{answer}")
        expect(step == "fsync:3" or cache.names() == [], f"left behind: {cache.names()}")
    expect_started(world, cache.run(), step == "fsync:3")


@each(RUNTIMES, WRITING[:4])
def the_hook_is_killed_while_it_prepares_again_at(runtime, step, world):
    cache = Cache(world)
    cache.receipt().write_bytes(b"")
    cache.label().write_bytes(b"")
    config = cache.config()
    hook = config["hooks"]["createRuntime"][0]
    command = injected(step, "signal=KILL", [hook["path"], *hook["args"][1:]])
    config["hooks"]["createRuntime"] = [{"path": shutil.which("strace"), "args": command, "env": ["PATH=/usr/bin:/bin"]}]
    start = world.run(runtime, config)
    expect(start.process.returncode != 0 and start.output == "", f"it started: {start.output} {start.error}")
    expect_started(world, cache.run(runtime), True, "prepared again")
    cache.expect_good()


@each((8,))
def so_many_prepare_at_once(count, world):
    cache = Cache(world, fill=False)
    running = [subprocess.Popen([world.tools["cli"], *map(str, cache.arguments())], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
               for _ in range(count)]
    for process in running:
        out, err = process.communicate(timeout=DEADLINE)
        expect(process.returncode == 0, f"{out} {err}")
    cache.expect_good()
    expect_started(world, cache.run(), True)


@each(RUNTIMES)
def a_hook_does_not_wait_for_somebody_who_prepares(runtime, world):
    cache = Cache(world)
    folder = os.open(cache.folder, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        expect_started(world, cache.run(runtime), True)
        cache.receipt().write_bytes(b"")
        expect_started(world, cache.run(runtime), False, "another preparation is at work")
        waiting = subprocess.Popen([world.tools["cli"], *map(str, cache.arguments())], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        wait_for(lambda: containers.read_proc(waiting.pid, "syscall").startswith("73 "), "prepare's wait for the lock")
    finally:
        os.close(folder)
    out, err = waiting.communicate(timeout=DEADLINE)
    expect(waiting.returncode == 0, f"{out} {err}")
    cache.expect_good()


@each()
def both_programs_have_one_build_id(world):
    words = [subprocess.run([world.tools[tool], "--version"], capture_output=True, text=True, timeout=DEADLINE).stdout.splitlines()[1]
             for tool in ("cli", "hook")]
    expect(words[0] == words[1] and words[0].startswith("build id "), f"{words}")
    inputs = json.loads(Cache(world).receipt().read_bytes().split(b"\n")[2])
    expect("build id " + inputs["build"] == words[0] and inputs["kernel"] == os.uname().release, f"{inputs}")


@each(RUNTIMES)
def starts_that_find_a_damaged_receipt_at_once(runtime, world):
    cache = Cache(world)
    cache.receipt().write_bytes(b"")
    starts = [world.start(runtime, cache.config()) for _ in range(4)]
    for start in starts:
        expect_merged(start.finish())
    wait_for(lambda: len(world.records()) == len(starts), "a record of each")
    expect(all(record["outcome"] == "installed" for record in world.records()), "not all installed")
    cache.expect_good()


# ---- many starts ---------------------------------------------------------------------------------------------------
AT_ONCE = 8


def many_starts(runtime, count, world):
    """With and without no_new_privs by turns."""
    cache = Cache(world)
    running, done = [], []
    while len(done) < count:
        while len(running) < AT_ONCE and len(running) + len(done) < count:
            config = cache.config((len(running) + len(done)) % 2 == 1)
            # One root for all: what the runtimes make in /dev must be each container's own.
            config["mounts"].append({"destination": "/dev", "type": "tmpfs", "source": "tmpfs"})
            running.append(world.start(runtime, config))
        done.append(running.pop(0).finish())
        expect_merged(done[-1])
        world.remove(done[-1])
    wait_for(lambda: len(world.records()) == count, f"{count} records")
    records = world.records()
    expect({record["container"] for record in records} == {start.container for start in done}, "a record twice, another not")
    for record in records:
        expect(record["outcome"] == "installed" and record["prepared"] and record["bytes_compared"], f"{record}")
        expect(record["filters"] == {"before": 4, "after": 1, "inherited": INHERITED}, f"{record['filters']}")
    cache.expect_good()


def add_many_starts(count):
    for runtime in RUNTIMES:
        CASES.append((f"{count} starts, {AT_ONCE} at a time [{runtime}]", lambda world, r=runtime: many_starts(r, count, world)))


def main():
    parser = argparse.ArgumentParser()
    for name in ("--hook", "--faults", "--probe", "--check-live", "--cli"):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--only", default="")
    parser.add_argument("--starts", type=int, default=100)
    arguments = parser.parse_args()
    containers.skip_unless_possible(RUNTIMES + ("strace",))
    containers.enter_private_mounts()
    add_many_starts(arguments.starts)
    with containers.World(arguments) as world:
        return containers.run_cases(CASES, world, arguments.only)


if __name__ == "__main__":
    sys.exit(main())
