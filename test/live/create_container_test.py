#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hook as crun's createContainer hook: it rewrites the file from which init, and every `crun exec`, installs.

What every case holds: a container and its exec sessions run under the whole stack or not at all; one record a start.
"""
import base64
import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys

import containers
import freezer
import hook_test
from containers import (ALLOW, ALLOW_LIST, DEADLINE, KILL_PROCESS, NATIVE, PROFILE, USER_NOTIF, bpf, errno_verdict, expect, rule,
                        wait_for)
from hook_test import INHERITED, MARKERS, expect_merged, expect_ready, expect_record, expect_refused, expect_status, unconfined

CASES = []
NNP = (False, True)
OUTSIDE = ("createRuntime", "prestart")


def each(*axes):
    def register(function):
        for values in itertools.product(*axes):
            label = " ".join("NNP=%d" % v if isinstance(v, bool) else v[0] if isinstance(v, tuple) else str(v) for v in values)
            name = function.__name__.replace("_", " ") + (f" [{label}]" if label else "")
            CASES.append((name, lambda world, v=values: function(*v, world)))
        return function
    return register


def cover(world, extra=""):
    """The default of `exec`, which only this route accepts."""
    text = world.settings(world.default_layers, extra).replace("exec: accept\n", "")
    world.settings_path.write_text(text)


def stages(world, outside=None, hook=None):
    result = {"createContainer": [hook or world.hook()]}
    for stage in ([outside] if isinstance(outside, str) else outside or ()):
        result[stage] = [world.hook()]
    return result


def one_record(world, outcome, *words, route="create-container"):
    wait_for(lambda: world.records(), "a record in the log")
    record = expect_record(world, outcome, *words)
    expect(len(world.records()) == 1, f"{len(world.records())} records: {[r['route'] for r in world.records()]}")
    expect(record["route"] == route, f"route {record['route']}: {record['notes']}")
    return record


def exec_session(world, start, *arguments):
    """What the probe prints in an exec session."""
    done = subprocess.run(world.command("crun") + ["exec", start.container, "/bin/probe", *arguments], capture_output=True, text=True,
                          timeout=DEADLINE)
    session = containers.Start.__new__(containers.Start)
    session.output, session.error = done.stdout, done.stderr
    return session


def program_of(world, start):
    return (world.root / "state-crun" / start.container / "seccomp.bpf").read_bytes()


def script(world, name, text):
    """A hook that runs before ours: $ID is the container, $STATE crun's folder of it."""
    path = world.layer(name, ("#!/bin/sh\nID=$(sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/')\n"
                              f"STATE={world.root}/state-crun/$ID\n{text}\n").encode())
    return {"path": "/bin/sh", "args": ["sh", str(path)], "env": ["PATH=/usr/bin:/bin"]}


# ---- the main thing ----------------------------------------------------------------------------------------------
@each(NNP, ("allow-by-default", "refuse-by-default"), (("alone", ()), ("with both others", OUTSIDE)))
def container_and_exec_session_have_one_filter_equal_to_the_layers(nnp, profile_name, outside, world):
    profile = PROFILE if profile_name == "allow-by-default" else ALLOW_LIST
    own = world.runtimes_own_program("crun", nnp, profile)
    cover(world)
    start = world.start("crun", world.config(nnp, profile, stages(world, outside[1]), ("/bin/probe", "wait"))).read_until("ready")
    expect_ready(start)
    expect_merged(start)
    expect(start.facts()["NoNewPrivs"] == nnp, "no_new_privs is not what was asked for: " + start.output)
    equal = world.check_live("equal", start.init_pid(), INHERITED, *world.default_layers, f"bpf:{own}")
    expect(equal.returncode == 0, "the live filter is not the stack: " + equal.stderr)
    record = one_record(world, "installed")
    expect(record["stops"] == 0 and record["pid"] == start.init_pid() and record["mismatch"] == "", f"record: {record}")
    expect(record["filters"] == {"before": 4, "after": 1, "inherited": INHERITED}, f"filters: {record['filters']}")
    expect(record["instructions"]["after"] * 8 == len(program_of(world, start)), f"instructions: {record['instructions']}")
    expect_merged(exec_session(world, start))
    shown = expect_status(world, 0, "up to date")["containers"][0]
    expect(shown["route"] == "create-container", f"status: {shown}")


@each(NNP)
def a_living_exec_session_holds_the_same_bytes(nnp, world):
    cover(world)
    start = world.start("crun", world.config(nnp, stages=stages(world), arguments=("/bin/probe", "wait"))).read_until("ready")
    pid_file = start.bundle / "exec.pid"
    subprocess.run(world.command("crun") + ["exec", "-d", "--pid-file", str(pid_file), start.container, "/bin/probe", "wait"],
                   check=True, timeout=DEADLINE, stdout=subprocess.DEVNULL)
    wait_for(lambda: pid_file.exists() and pid_file.read_text(), "the exec session")
    for pid in (start.init_pid(), int(pid_file.read_text())):
        dumped = world.check_live("dump", pid, INHERITED, world.layers / "live.bpf")
        expect(dumped.returncode == 0, dumped.stderr)
        expect((world.layers / "live.bpf").read_bytes() == program_of(world, start), f"process {pid} has another program")


@each(NNP)
def a_longer_and_a_shorter_program_than_crun_s_own(nnp, world):
    calls = [(name, errno_verdict(60 + i)) for i, name in enumerate(("sethostname", "acct", "keyctl", "umask"))]
    world.layer("many.bpf", bpf(*calls))
    world.settings([f"bpf:{world.layers}/many.bpf"])
    start = world.run("crun", world.config(nnp, stages=stages(world)))
    expect_merged(start, {"sethostname": 60, "acct": 61, "keyctl": 62, "umask": 63, "uname": 99})
    record = expect_record(world, "installed")
    expect(record["instructions"]["after"] > record["layers"][-1]["instructions"], f"not longer: {record['instructions']}")
    cases = [{"names": ["personality"], "action": "SCMP_ACT_LOG", "args": [{"index": 0, "value": v, "op": "SCMP_CMP_EQ"}]}
             for v in range(0, 64, 2)]
    world.layer("personality.bpf", bpf(("personality", errno_verdict(94))))
    world.settings([f"bpf:{world.layers}/personality.bpf"])
    start = world.run("crun", world.config(nnp, dict(PROFILE, syscalls=cases), stages(world)))
    expect_merged(start, {"personality": 94})
    record = expect_record(world, "installed")
    expect(record["instructions"]["after"] < record["layers"][-1]["instructions"], f"not shorter: {record['instructions']}")


@each(NNP)
def create_may_wait_for_start(nnp, world):
    cover(world)
    start = world.start("crun", world.config(nnp, stages=stages(world, OUTSIDE), arguments=("/bin/probe", "wait")), verb="create")
    expect(start.process.wait(DEADLINE) == 0, "create failed")
    expect_status(world, 0, "up to date")
    subprocess.run(world.command("crun") + ["start", start.container], check=True, timeout=DEADLINE, capture_output=True)
    expect_merged(start.read_until("ready"))
    expect_merged(exec_session(world, start))


STARTS = int(os.environ.get("STARTS", "16"))


@each()
def many_starts_eight_at_a_time(world):
    cover(world)
    for first in range(0, STARTS, 8):
        starts = [world.start("crun", world.config(bool(i % 2), stages=stages(world, OUTSIDE if i % 3 else ())))
                  for i in range(first, min(first + 8, STARTS))]
        for start in starts:
            expect_merged(start.finish())
            world.remove(start)
    records = world.records()
    expect([r["outcome"] for r in records] == ["installed"] * STARTS, f"outcomes: {[r['outcome'] for r in records]}")
    expect(len({r["container"] for r in records}) == STARTS, "a container has two records")


@each()
def crun_s_raw_filter_annotation_is_the_container_s_layer(world):
    cover(world)
    for nnp in NNP:
        config = world.config(nnp, None, stages(world, OUTSIDE), ("/bin/probe", "wait"))
        raw = base64.b64encode(bpf(("keyctl", errno_verdict(91)))).decode()
        config["annotations"] = {"run.oci.seccomp_bpf_data": raw}
        start = world.start("crun", config).read_until("ready")
        expect_merged(start, {"umask": 97, "sethostname": 96, "acct": 95, "keyctl": 91})
        expect_merged(exec_session(world, start), {"umask": 97, "keyctl": 91})


# ---- what both routes share ----------------------------------------------------------------------------------------
@each(NNP)
def needed_calls_are_looked_at_before(nnp, world):
    world.layer("stack/02.bpf", bpf(*((name, KILL_PROCESS) for name in hook_test.PRIVILEGED["crun"])))
    start = world.run("crun", world.config(nnp, stages=stages(world, OUTSIDE)))
    if nnp:
        return expect_merged(start)
    expect_refused(start, "crun still needs setresgid, setresuid, capset", "filter 02.bpf", "noNewPrivileges: true")
    one_record(world, "refused", "still needs")
    return None


def mismatching_start(nnp, world):
    edit = f"sed -i 's/: 98/: 93/' {world.root}/bundle{world.serial + 1}/config.json"
    hooks = {"createRuntime": [world.hook()], "createContainer": [script(world, "edit.sh", edit), world.hook()]}
    return world.run("crun", world.config(nnp, stages=hooks))


@each(NNP)
def a_filter_unlike_the_profile_is_named_with_a_witness(nnp, world):
    expect_merged(mismatching_start(nnp, world), dict(MARKERS, personality=98))
    record = one_record(world, "installed")
    expect("ERRNO(93" in record["mismatch"] and "ERRNO(98" in record["mismatch"], "witness: " + record["mismatch"])
    expect(len(record["layers"]) == 4, f"the profile is no layer of its own: {record['layers']}")
    world.settings(world.default_layers, "on_mismatch: refuse\n")
    expect_refused(mismatching_start(nnp, world), "not what the profile says")


@each(NNP)
def observe_writes_nothing_and_says_what_it_would_do(nnp, world):
    own = open(world.runtimes_own_program("crun", nnp, PROFILE), "rb").read()
    cover(world, "mode: observe\n")
    start = world.start("crun", world.config(nnp, stages=stages(world, OUTSIDE), arguments=("/bin/probe", "wait"))).read_until("ready")
    expect_merged(start, {"uname": 99, "umask": 0, "acct": 1})
    expect(program_of(world, start) == own, "the file was written")
    expect(one_record(world, "observed")["instructions"]["after"] > 0, "no program in the record")


@each((("alone", ()), ("with createRuntime", OUTSIDE[:1])))
def disabled_leaves_it_alone_with_one_record(outside, world):
    (world.settings_path.parent / "disabled").write_text("")
    expect_merged(world.run("crun", world.config(True, stages=stages(world, outside[1]))), {"uname": 99, "umask": 0})
    one_record(world, "disabled", route="ptrace-hook" if outside[1] else "create-container")


@each(NNP)
def on_failure_runtime_profile_goes_on_with_a_warning(nnp, world):
    (world.layers / "umask97.bpf").unlink()
    cover(world, "on_failure: runtime-profile\n")
    expect_merged(world.run("crun", world.config(nnp, stages=stages(world, OUTSIDE))), {"uname": 99, "umask": 0})
    one_record(world, "let-through", "umask97.bpf")


@each()
def a_faulty_configuration_is_refused(world):
    world.settings_path.write_text("version: 2\n")
    expect_refused(world.run("crun", world.config(True, stages=stages(world))), "version is '2'")


# ---- flags and listeners -------------------------------------------------------------------------------------------
@each((("none", None, 4), ("empty", [], 4), ("LOG", ["SECCOMP_FILTER_FLAG_LOG"], 2), ("SPEC_ALLOW", ["SECCOMP_FILTER_FLAG_SPEC_ALLOW"], 4)))
def the_flags_stay_crun_s(case, world):
    _, flags, recorded = case
    cover(world)
    profile = PROFILE if flags is None else dict(PROFILE, flags=flags)
    expect_merged(world.run("crun", world.config(False, profile, stages(world, OUTSIDE))))
    record = one_record(world, "installed")
    expect(record["flags"] == recorded, f"flags: {record['flags']}")
    said = [note for note in record["notes"] if "FILTER_FLAG_LOG stays" in note]
    expect(bool(said) == (recorded == 2), f"notes: {record['notes']}")


@each()
def a_listener_of_the_container_and_one_of_a_layer_are_refused(world):
    world.layer("a.bpf", bpf(("keyctl", USER_NOTIF)))
    world.settings([f"bpf:{world.layers}/a.bpf"])
    listener = world.root / "listener"
    profile = dict(PROFILE, listenerPath=str(listener))
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(listener))
        server.listen()
        expect_refused(world.run("crun", world.config(True, profile, stages(world))), "two layers notify", "a.bpf")
    listener.unlink()


# ---- the other route -------------------------------------------------------------------------------------------------
LINK = "ln $STATE/seccomp.bpf $STATE/cached"


@each(NNP)
def a_shared_cache_entry_takes_the_ptrace_route_and_stays_as_it_is(nnp, world):
    own = open(world.runtimes_own_program("crun", nnp, PROFILE), "rb").read()
    hooks = {"createRuntime": [script(world, "link.sh", LINK), world.hook()], "createContainer": [world.hook()]}
    start = world.start("crun", world.config(nnp, stages=hooks, arguments=("/bin/probe", "wait"))).read_until("ready")
    expect_merged(start)
    record = one_record(world, "installed", route="ptrace-hook")
    expect(any("other containers share" in note for note in record["notes"]), f"notes: {record['notes']}")
    expect(program_of(world, start) == own, "the shared file was written")
    expect(exec_session(world, start).facts()["umask"] == 0, "exec: accept is about nothing")
    cover(world)
    expect_refused(world.run("crun", world.config(nnp, stages=hooks)), "exec: cover", "other containers share")


@each()
def a_crun_with_a_cache_takes_the_ptrace_route(world):
    cache = world.root / "state-crun/.cache/seccomp"
    cache.mkdir(parents=True)
    try:
        expect_merged(world.run("crun", world.config(True, stages=stages(world, OUTSIDE))))
        one_record(world, "installed", route="ptrace-hook")
        cover(world)
        expect_refused(world.run("crun", world.config(True, stages=stages(world, OUTSIDE))), "crun's cache")
    finally:
        shutil.rmtree(cache.parent)


@each(("before", "between"))
def a_shared_cache_entry_without_a_tracer_is_refused(when, world):
    link = script(world, "link.sh", LINK)
    hooks = {"createContainer": [link, world.hook()]} if when == "before" else \
        {"createRuntime": [world.hook(), link], "createContainer": [world.hook()]}
    expect_refused(world.run("crun", world.config(False, stages=hooks)), "other containers share", "createRuntime as well")


@each(NNP)
def without_a_profile_the_createRuntime_call_serves(nnp, world):
    config = unconfined(world, nnp)
    config["hooks"] = stages(world, OUTSIDE)
    start = world.start("crun", config).read_until("ready")
    expect_merged(start, {"umask": 97, "uname": 0})
    one_record(world, "installed", route="ptrace-hook")
    config["hooks"] = stages(world)
    expect_refused(world.run("crun", config), "no linux.seccomp", "createRuntime as well")
    cover(world)
    config["hooks"] = stages(world, OUTSIDE[:1])
    expect_refused(world.run("crun", config), "exec: cover", "no linux.seccomp")
    for extra in ("apply: {unconfined: skip}\n", ""):
        cover(world, extra)
        if not extra:
            world.settings_path.write_text(f"version: 1\nlog: {world.log}\n")
        world.log.unlink(missing_ok=True)
        expect(world.start("crun", config).read_until("ready").facts()["Seccomp_filters"] == INHERITED, "it is filtered")
        one_record(world, "skipped", route="ptrace-hook")


@each(NNP)
def under_runc_the_createRuntime_call_serves(nnp, world):
    expect_merged(world.run("runc", world.config(nnp, stages=stages(world, OUTSIDE))))
    one_record(world, "installed", route="ptrace-hook")
    expect_refused(world.run("runc", world.config(nnp, stages=stages(world))), "runc", "createRuntime as well")


def user_namespace(config):
    config["linux"]["namespaces"].append({"type": "user"})
    for kind in ("uidMappings", "gidMappings"):
        config["linux"][kind] = [{"containerID": 0, "hostID": 100000, "size": 65536}]
    return config


@contextlib.contextmanager
def owned_by(world, user):
    paths = (world.rootfs, *world.rootfs.iterdir())
    for path in paths:
        os.chown(path, user, user)
    try:
        yield
    finally:
        for path in paths:
            os.chown(path, 0, 0)


@each(("both", "createContainer alone"))
def a_container_with_a_user_namespace_of_its_own_takes_the_ptrace_route(registered, world):
    config = user_namespace(world.config(False, stages=stages(world, OUTSIDE if registered == "both" else ())))
    with owned_by(world, 100000):
        start = world.run("crun", config)
    if registered == "both":
        expect_merged(start)
        return one_record(world, "installed", route="ptrace-hook") and None
    expect_refused(start, "user namespace of its own", "createRuntime as well")
    return None


@each(OUTSIDE[:1] + ("createContainer",))
def a_profile_that_vanishes_from_the_bundle_sheds_no_layer(stage, world):
    cover(world, "apply: {unconfined: skip}\n")
    without = world.layer("without.json", json.dumps(world.config(False, None, {})).encode())
    vanish = script(world, "vanish.sh", f"cp {without} {world.root}/bundle{world.serial + 1}/config.json")
    hooks = stages(world, OUTSIDE[:1])
    hooks[stage] = [vanish, world.hook()]
    expect_refused(world.run("crun", world.config(False, stages=hooks)), "will install")


@each(("disabled", "skip", "observe"))
def what_was_left_alone_outside_is_left_alone_in_a_user_namespace_too(why, world):
    if why == "disabled":
        (world.settings_path.parent / "disabled").write_text("")
    cover(world, {"disabled": "", "skip": "apply: {unconfined: skip}\n", "observe": "mode: observe\n"}[why])
    if why == "observe":
        (world.layers / "umask97.bpf").unlink()
    config = user_namespace(world.config(False, None if why == "skip" else PROFILE, stages(world, OUTSIDE[:1])))
    with owned_by(world, 100000):
        start = world.run("crun", config)
    expect(start.facts()["umask"] == 0, start.output)
    one_record(world, {"disabled": "disabled", "skip": "skipped", "observe": "observed"}[why], route="ptrace-hook")


@each(NNP)
def a_container_without_a_pid_namespace_is_served(nnp, world):
    cover(world)
    config = world.config(nnp, stages=stages(world, OUTSIDE[:1]))
    config["linux"]["namespaces"] = [n for n in config["linux"]["namespaces"] if n["type"] != "pid"]
    config["mounts"] = [{"destination": "/proc", "type": "bind", "source": "/proc", "options": ["rbind"]}]
    expect_merged(world.run("crun", config))
    one_record(world, "installed")


@contextlib.contextmanager
def root_above_the_configuration(world, config, *covers):
    """The container's root is the folder with the configuration, the layers and the hook in it; `covers` are what is
    mounted over some of that: (below the root, what). All of it root's, as in a volume that root made."""
    folders = [world.root / name for name in ("proc", "dev", "sys", "tmp", "bin") if not (world.root / name).exists()]
    for folder in folders:
        folder.mkdir()
        shutil.chown(folder, *(world.rootfs / "dev").stat()[4:6])
    config["root"] = {"path": str(world.root), "readonly": False}
    for destination, source in (("/bin", world.rootfs / "bin"), *covers):
        config["mounts"].append({"destination": destination, "type": "bind", "source": str(source), "options": ["bind", "ro"]})
    try:
        yield config
    finally:
        for folder in folders:
            shutil.rmtree(folder)


def cover_of(world, what):
    """What somebody would mount to be rid of the host layers."""
    folder = world.bundle({}) / "evil"
    folder.mkdir()
    if what == "layers":
        shutil.copytree(world.layers, folder, dirs_exist_ok=True)
        (folder / "umask97.bpf").write_bytes(bpf(("acct", ALLOW)))
        return "/layers", folder
    if what == "program":
        (folder / "nothing").write_text("#!/bin/sh\nexec cat >/dev/null\n")
        (folder / "nothing").chmod(0o755)
        return "/hook", folder / "nothing"
    shutil.copytree(world.settings_path.parent, folder, dirs_exist_ok=True)
    (folder / "config.yaml").write_text(f"version: 1\nhost_layers: []\nexec: accept\nlog: {world.log}\n")
    if what == "switch":
        (folder / "disabled").write_text("")
    return "/etc", folder


@each(("configuration", "switch", "layers"), NNP)
def what_the_container_mounts_over_the_host_s_files_is_not_read(what, nnp, world):
    with root_above_the_configuration(world, world.config(nnp, stages=stages(world)), cover_of(world, what)) as config:
        expect_merged(world.run("crun", config))
    one_record(world, "installed")


@each(("configuration", "switch"), OUTSIDE[:1] + ("createContainer alone",))
def a_state_that_cannot_be_read_makes_nothing_believed_of_what_is_mounted_over(what, outside, world):
    config = world.config(False, stages=stages(world, outside if outside in OUTSIDE else ()))
    config["annotations"] = {"x": "y" * (5 << 20)}
    with root_above_the_configuration(world, config, cover_of(world, what)):
        expect_refused(world.run("crun", config), "state")


@each(("configuration", "switch", "layers", "program"), NNP)
def nothing_is_left_to_a_second_call_below_the_container_s_root(what, nnp, world):
    with root_above_the_configuration(world, world.config(nnp, stages=stages(world, OUTSIDE[0])), cover_of(world, what)) as config:
        expect_merged(world.run("crun", config))
    record = one_record(world, "installed", route="ptrace-hook")
    expect(any("could lie over" in note for note in record["notes"]), record["notes"])


@each(("switch",))
def in_a_user_namespace_a_covered_configuration_leaves_nothing_alone(what, world):
    config = user_namespace(world.config(False, stages=stages(world)))
    with owned_by(world, 100000), root_above_the_configuration(world, config, cover_of(world, what)):
        expect_refused(world.run("crun", config), "user namespace of its own", "createRuntime as well")


# ---- registrations ---------------------------------------------------------------------------------------------------
def other_configuration(world):
    other = world.settings_path.parent / "other.yaml"
    other.write_text(world.settings_path.read_text() + "# other\n")
    hook = world.hook()
    hook["args"][2] = str(other)
    return hook


@each(NNP)
def registered_twice_it_merges_once(nnp, world):
    cover(world)
    hooks = {"createRuntime": [world.hook()] * 2, "createContainer": [world.hook()] * 2}
    expect_merged(world.run("crun", world.config(nnp, stages=hooks)))
    expect(one_record(world, "installed")["mismatch"] == "", "merged again")


@each()
def a_second_hook_with_another_configuration_is_refused(world):
    hooks = {"createContainer": [world.hook(), other_configuration(world)]}
    expect_refused(world.run("crun", world.config(False, stages=hooks)), "with another configuration already")


@each()
def nothing_is_left_to_a_createContainer_hook_that_is_not_this_one(world):
    reader = {"path": "/bin/sh", "args": ["sh", "-c", "cat > /dev/null", str(world.tools["hook"])], "env": ["PATH=/usr/bin:/bin"]}
    for other, words in ((other_configuration(world), "already traced by process"), (reader, None)):
        start = world.run("crun", world.config(False, stages={"createRuntime": [world.hook()], "createContainer": [other]}))
        if words:
            expect_refused(start, words)
        else:
            expect_merged(start)
            expect_record(world, "installed")


@each()
def the_bundle_s_configuration_is_no_evidence_of_a_registration(world):
    # crun read a config.json without the second call; ours reads one with it, and must not believe that.
    bundle = world.root / f"bundle{world.serial + 1}"
    lie = world.layer("lie.json", json.dumps(world.config(False, stages=stages(world, OUTSIDE[:1]))).encode())
    hooks = {"createRuntime": [script(world, "lie.sh", f"cp {lie} {bundle}/config.json"), world.hook()]}
    expect_merged(world.run("crun", world.config(False, stages=hooks)))
    one_record(world, "installed", route="ptrace-hook")


@each((("writable by others", "chmod 666 {}/config.json"), ("another's", "chown 65534 {}/config.json"), ("in an open folder", "chmod 777 {}")))
def nothing_is_left_to_the_second_call_on_the_word_of_a_configuration(fault, world):
    loosen = script(world, "loosen.sh", fault[1].format(f"{world.root}/bundle{world.serial + 1}"))
    hooks = {"createRuntime": [loosen, world.hook()], "createContainer": [world.hook()]}
    expect_merged(world.run("crun", world.config(False, stages=hooks)))
    one_record(world, "installed", route="ptrace-hook")


@each()
def called_by_anything_but_init_it_refuses(world):
    shell = {"path": "/bin/sh", "args": ["sh", "-c", " ".join(world.hook()["args"]) + " && true"]}
    expect_refused(world.run("crun", world.config(False, stages={"createContainer": [shell]})), "the state's pid is 0", "init of neither")
    exec_ = {"path": "/bin/sh", "args": ["sh", "-c", "exec " + " ".join(world.hook()["args"])]}
    expect_merged(world.run("crun", world.config(False, stages={"createContainer": [exec_]})))


@each(NNP)
def after_the_install_it_is_too_late(nnp, world):
    inside = world.rootfs / str(world.root)[1:]
    (inside / "etc").mkdir(parents=True)
    shutil.copy(world.tools["hook"], inside / "hook")
    shutil.copy(world.settings_path, inside / "etc/config.yaml")
    try:
        expect_refused(world.run("crun", world.config(nnp, stages={"startContainer": [world.hook()]})))
    finally:
        shutil.rmtree(world.rootfs / "var")


# ---- hostile files ---------------------------------------------------------------------------------------------------
FILES = (
    ("empty", ": > $STATE/seccomp.bpf", "empty"),
    ("cut off", "truncate -s 12 $STATE/seccomp.bpf", "multiple of 8"),
    ("too long", "truncate -s 32776 $STATE/seccomp.bpf", "larger than"),
    ("sparse and huge", "truncate -s 1T $STATE/seccomp.bpf", "larger than"),
    ("sparse", "truncate -s 32768 $STATE/seccomp.bpf", "container"),
    ("no program", "printf '\\377\\377\\377\\377\\377\\377\\377\\377' > $STATE/seccomp.bpf", "instruction 0"),
    ("renamed over", "cp $STATE/seccomp.bpf $STATE/x; mv $STATE/x $STATE/seccomp.bpf", "no name any more"),
    ("removed", "rm $STATE/seccomp.bpf", "no name any more"),
    ("moved away", "mv $STATE/seccomp.bpf $STATE/x", "has no"),
    ("a link", "mv $STATE/seccomp.bpf $STATE/x; ln -s x $STATE/seccomp.bpf", "has no"),
    ("a fifo", "rm $STATE/seccomp.bpf; mkfifo $STATE/seccomp.bpf", "no name any more"),
    ("owned by another", "chown 65534 $STATE/seccomp.bpf", "not by root"),
    ("writable by others", "chmod 646 $STATE/seccomp.bpf", "writable by group or others"),
    ("in an open folder", "chmod 777 $STATE", "writable by group or others"),
)


@each(FILES)
def a_program_file_that_is(fault, world):
    _, text, message = fault
    cover(world)
    hooks = {"createContainer": [script(world, "fault.sh", text), world.hook()]}
    expect_refused(world.run("crun", world.config(True, stages=hooks)), message)
    one_record(world, "refused", message)


@each(FILES[:6])
def with_on_failure_runtime_profile_crun_itself_refuses_a_file_that_is(fault, world):
    _, text, _ = fault
    cover(world, "on_failure: runtime-profile\n")
    expect_refused(world.run("crun", world.config(True, stages={"createContainer": [script(world, "fault.sh", text), world.hook()]})))


@each(NNP)
def a_second_file_of_that_name_is_refused(nnp, world):
    # Whoever starts the runtime can hand descriptors on to init.
    folder = world.root / f"sct-{os.getpid()}-{world.serial + 1}"
    folder.mkdir()
    decoy = os.open(folder / "seccomp.bpf", os.O_RDWR | os.O_CREAT, 0o700)
    os.write(decoy, bpf())
    def start(config):
        return world.start("crun", config, verb=["run", "--preserve-fds", "1"], third=decoy).finish()
    try:
        expect_refused(start(world.config(nnp, stages=stages(world))), "two files that could be its program")
        folder.rename(world.root / f"sct-{os.getpid()}-{world.serial + 1}")
        expect_refused(start(world.config(nnp, None, stages(world))), "will install")
    finally:
        os.close(decoy)


@each((("shorter", "truncate -s 8"), ("longer", "truncate -s 4000"), ("other bytes", "sed -i.old s/c/d/"), ("linked", "ln -f {} {}.2; true"),
       ("replaced", "cp {0} {0}.2; mv {0}.2")), ("file-read", "file-decided"))
def a_file_that_changes_between_read_and_write(change, step, world):
    cover(world)
    hook = hook_test.paused_hook(world, step)
    with hook.listen():
        start = world.start("crun", world.config(True, stages=stages(world, hook=hook.entry)))
        stopped = hook.wait_paused()
        path = str(world.root / "state-crun" / start.container / "seccomp.bpf")
        command = change[1].format(path, path)
        if change[0] == "other bytes":  # in place
            with open(path, "r+b") as file:
                file.seek(file.seek(0, os.SEEK_END) - 8)
                file.write(struct.pack("<HBBI", 6, 0, 0, ALLOW & ~1))
        else:
            subprocess.run(f"{command} {path}", shell=True, check=True)
        os.kill(stopped, signal.SIGCONT)
        start.finish()
    expect_refused(start)
    one_record(world, "refused", "seccomp.bpf")


@each(NNP)
def a_bundle_that_changes_under_us_is_refused(nnp, world):
    hook = hook_test.paused_hook(world, "file-decided")
    with hook.listen():
        start = world.start("crun", world.config(nnp, stages=stages(world, hook=hook.entry)))
        stopped = hook.wait_paused()
        path = start.bundle / "config.json"
        path.write_text(path.read_text().replace(": 98", ": 93"))
        os.kill(stopped, signal.SIGCONT)
        expect_refused(start.finish(), "changed while the container was being started")


# ---- kill, stop and freeze at every step -------------------------------------------------------------------------------
STEPS = ("file-read", "file-decided", "file-grown", "file-spoilt", "file-filled", "file-written", "file-signed")


def start_paused(nnp, step, world, **fields):
    cover(world)
    hook = hook_test.paused_hook(world, step, **fields)
    with hook.listen():
        start = world.start("crun", world.config(nnp, stages=stages(world, hook=hook.entry)))
        stopped = hook.wait_paused()
    expect(start.printed_nothing(), f"the container runs before '{step}' is over")
    return start, stopped


@each(NNP, STEPS)
def kill_the_hook_at(nnp, step, world):
    own = open(world.runtimes_own_program("crun", nnp, PROFILE), "rb").read()
    start, stopped = start_paused(nnp, step, world)
    left = program_of(world, start)
    os.kill(stopped, signal.SIGKILL)
    expect_refused(start.finish())
    # Whole, or nothing that the kernel would take.
    if step in ("file-read", "file-decided"):
        return expect(left == own, "the file was touched before its time")
    expect(left != own, "the file was not touched")
    read = world.cli("disasm", f"bpf:{world.layer('left.bpf', left)}")
    return expect((read.returncode == 0) == (step in ("file-written", "file-signed")), f"left at {step}: {read.stderr}{read.stdout}")


@each(NNP, STEPS)
def stop_the_hook_at(nnp, step, world):
    start, stopped = start_paused(nnp, step, world)
    os.kill(stopped, signal.SIGSTOP)
    os.kill(stopped, signal.SIGCONT)
    expect_merged(start.finish())


@each(STEPS)
def freeze_the_hook_at(step, world):
    with freezer.Freezer(world) as ice:
        start, stopped = start_paused(True, step, world)
        ice.hold(stopped)
        expect(start.printed_nothing(), "the container runs while the hook is frozen")
        ice.release()
        expect_merged(start.finish())


@each(STEPS)
def the_runtime_is_killed_at(step, world):
    start, stopped = start_paused(False, step, world)
    start.process.kill()
    start.process.wait(DEADLINE)
    os.kill(stopped, signal.SIGCONT)
    if start.finish().output:  # init may get through when nobody is left to stop it
        expect_merged(start)


@each()
def a_hook_slower_than_its_timeout_starts_nothing(world):
    if shutil.which("strace") is None:
        return "no strace"
    slow = dict(injected(world, "fdatasync", "delay_enter=3s", 1), timeout=1)
    expect_refused(world.run("crun", world.config(True, stages=stages(world, hook=slow))), "timeout")
    return None


# ---- what the file system answers ---------------------------------------------------------------------------------------
FAULTS = ["fallocate ENOSPC 1", "ftruncate EIO 1", "fdatasync EIO 1", "fdatasync EIO 2", "pread64 EIO 1", "pread64 EIO 3", "pread64 EIO 4"] + \
         ["pwrite64 EROFS 1"] + [f"pwrite64 {error} {n}" for n in (1, 2, 3) for error in ("ENOSPC", "EIO")]


def injected(world, call, what, when):
    command = ["strace", "-D", "-qq", "-o", "/dev/null", "-e", f"trace={call}", "-e", f"inject={call}:{what}:when={when}"]
    return {"path": shutil.which("strace"), "args": command + world.hook()["args"], "env": ["PATH=/usr/bin:/bin"]}


@each(FAULTS, ("refuse", "runtime-profile"))
def a_file_system_that_answers(fault, on_failure, world):
    if shutil.which("strace") is None:
        return "no strace"
    call, error, when = fault.split()
    calls = [(name, errno_verdict(60 + i)) for i, name in enumerate(("sethostname", "acct", "keyctl", "umask"))]
    world.layer("umask97.bpf", bpf(*calls))
    cover(world, f"on_failure: {on_failure}\n")
    start = world.run("crun", world.config(True, stages=stages(world, hook=injected(world, call, "error=" + error, when))))
    if on_failure == "refuse":
        expect_refused(start)
        one_record(world, "refused", "seccomp.bpf")
    else:
        expect_merged(start, {"uname": 99, "umask": 0, "acct": 1})
        one_record(world, "let-through", "seccomp.bpf")
    return None


@each(("pidfd_open EPERM 1+", "getdents64 EACCES 1", "brk,mmap ENOMEM 6+", "readlink EACCES 1+"))
def a_kernel_that_answers(fault, world):
    if shutil.which("strace") is None:
        return "no strace"
    call, error, when = fault.split()
    cover(world)
    expect_refused(world.run("crun", world.config(True, stages=stages(world, hook=injected(world, call, "error=" + error, when)))))
    return None


@each()
def a_file_system_without_trusted_attributes_is_served_all_the_same(world):
    if shutil.which("strace") is None:
        return "no strace"
    cover(world)
    hook = injected(world, "fsetxattr", "error=EOPNOTSUPP", 1)
    expect_merged(world.run("crun", world.config(True, stages={"createContainer": [hook, world.hook()]})))
    record = expect_record(world, "installed")
    expect(len(world.records()) == 2 and record["mismatch"], "nobody signed, and the second call did not merge again")
    return None


@each(("refuse", "runtime-profile"), NNP)
def a_full_disk(on_failure, nnp, world):
    # Real: crun's state on a small tmpfs, filled before our call; the merged program needs a page more than crun's own.
    state = world.root / "state-crun"
    state.mkdir(exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=755", "tmpfs", str(state)], check=True)
    try:
        ins = lambda code, jt, jf, k: struct.pack("<HBBI", code, jt, jf, k)
        many = b"".join(ins(0x15, 0, 1, n) + ins(6, 0, 0, errno_verdict(1000 + n)) for n in range(500, 900))
        world.layer("umask97.bpf", ins(0x20, 0, 0, 4) + ins(0x15, 1, 0, NATIVE) + ins(6, 0, 0, ALLOW) + ins(0x20, 0, 0, 0) + many +
                    ins(6, 0, 0, ALLOW))
        cover(world, f"on_failure: {on_failure}\n")
        fill = script(world, "fill.sh", f"cat /dev/zero > {state}/full 2>/dev/null; true")
        empty = script(world, "empty.sh", f"rm {state}/full")  # crun itself needs room for its status
        start = world.run("crun", world.config(nnp, stages={"createContainer": [fill, world.hook(), empty]}))
        if on_failure == "refuse":
            expect_refused(start, "no room", "No space left")
            one_record(world, "refused", "No space left")
        else:
            expect_merged(start, {"uname": 99, "umask": 0})
            one_record(world, "let-through", "No space left")
    finally:
        world.remove_all()
        subprocess.run(["umount", str(state)], check=True)


@each()
def the_container_s_own_limit_on_file_sizes_is_reported(world):
    cover(world)
    config = world.config(True, stages=stages(world))
    config["process"]["rlimits"] = [{"type": "RLIMIT_FSIZE", "soft": 8, "hard": 8}]
    start = world.run("crun", config)
    if start.output:  # crun sets the limits after the hooks
        return expect_merged(start)
    return expect_refused(start)


def main():
    return containers.main(CASES)


if __name__ == "__main__":
    sys.exit(main())
