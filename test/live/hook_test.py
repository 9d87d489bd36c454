#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""seccompress-hook on real runc and crun: one case per line, then a count. `--only TEXT` runs the cases that contain it.

What every case holds: never a container with less filter than it should have; the cause in the runtime's error
where the hook can know it, else in the log; no process left behind (World.clean_after_case).
"""
import base64
import contextlib
import itertools
import json
import os
import re
import signal
import subprocess
import sys

import containers
import freezer
from containers import (ALLOW, ALLOW_LIST, DEADLINE, KILL_PROCESS, PROFILE, USER_NOTIF, bpf, errno_verdict, expect, filter_count,
                        process_state, processes_named, rule, wait_for)

RUNTIMES = ("runc", "crun")
MARKERS = {"umask": 97, "sethostname": 96, "acct": 95, "uname": 99}
CASES = []
INHERITED = filter_count("self")


def case(name):
    def register(function):
        CASES.append((name, function))
        return function
    return register


def each(*axes):
    """Decorator: the case once per combination; the axes' values come before the world."""
    def register(function):
        for values in itertools.product(*axes):
            label = " ".join("NNP=%d" % v if isinstance(v, bool) else v[1] if isinstance(v, tuple) else str(v) for v in values)
            name = f"{function.__name__.replace('_', ' ')} [{label}]"
            CASES.append((name, lambda world, v=values: function(*v, world)))
        return function
    return register


def expect_merged(start, markers=MARKERS, filters=1):
    facts = start.facts()
    expect(facts.get("Seccomp_filters") == INHERITED + filters, f"Seccomp_filters is {facts.get('Seccomp_filters')}: {start.output!r} {start.error!r}")
    for call, errno in markers.items():
        expect(facts.get(call) == errno, f"{call} gave {facts.get(call)}, not {errno}: {start.output!r}")


def expect_ready(start):
    if not start.output.endswith("ready\n"):
        raise containers.Failed(f"it ended early: {start.output!r} {start.finish().error}")


def expect_refused(start, *words):
    expect(start.process.returncode != 0, "the runtime succeeded: " + start.output)
    expect(start.output == "", "the container ran: " + start.output)
    for word in words:
        expect(word in start.error, f"'{word}' is not in the runtime's error: {start.error!r}")


def expect_record(world, outcome, *words):
    # The tracer writes it after it let the container go, which may have ended before.
    wait_for(lambda: world.records(), "a record in the log")
    record = world.records()[-1]
    expect(record["outcome"] == outcome, f"the outcome is {record['outcome']} ({record['cause']}), not {outcome}")
    for word in words:
        expect(word in record["cause"], f"'{word}' is not in the record's cause: {record['cause']!r}")
    return record


# ---- the main thing ----------------------------------------------------------------------------------------------
@each(RUNTIMES, (False, True), ("allow-by-default", "refuse-by-default"), ("createRuntime", "prestart"))
def one_filter_equal_to_the_layers(runtime, nnp, profile_name, stage, world):
    profile = PROFILE if profile_name == "allow-by-default" else ALLOW_LIST
    own = world.runtimes_own_program(runtime, nnp, profile)
    config = world.config(nnp, profile, stages={stage: [world.hook()]}, arguments=("/bin/probe", "wait"))
    start = world.start(runtime, config).read_until("ready")
    expect_ready(start)
    expect_merged(start)
    equal = world.check_live("equal", start.init_pid(), INHERITED, *world.default_layers, f"bpf:{own}")
    expect(equal.returncode == 0, "the live filter is not the stack: " + equal.stderr)
    wait_for(lambda: world.records(), "a record in the log")
    record = expect_record(world, "installed")
    expect(record["bytes_compared"] is True, "the kernel did not show the program back")
    expect(record["mismatch"] == "", "mismatch: " + record["mismatch"])
    expect(record["filters"] == {"before": 4, "after": 1, "inherited": INHERITED}, f"filters: {record['filters']}")
    expect([layer["filters"] for layer in record["layers"]] == [2, 1, 1], f"layers: {record['layers']}")
    expect(record["instructions"]["after"] == os.path.getsize(own) // 8 or record["instructions"]["after"] > 0, "no instructions")
    expect(len(record["program_sha256"]) == 64 and record["container"] == start.container, "hash or container missing")


@each(RUNTIMES, (False, True))
def a_program_longer_than_the_runtimes_own(runtime, nnp, world):
    # Many ERRNO values make a merged program that no nine-instruction filter has room for.
    calls = [(name, errno_verdict(60 + i)) for i, name in enumerate(("sethostname", "acct", "keyctl", "umask"))]
    world.layer("many.bpf", bpf(*calls))
    world.settings([f"bpf:{world.layers}/many.bpf"])
    start = world.run(runtime, world.config(nnp))
    expect_merged(start, {"sethostname": 60, "acct": 61, "keyctl": 62, "umask": 63, "uname": 99})
    record = expect_record(world, "installed")
    own = record["layers"][-1]["instructions"]
    expect(record["instructions"]["after"] > own, f"the merged program is not longer: {record['instructions']} {own}")


@each(RUNTIMES, (False, True))
def a_program_shorter_than_the_runtimes_own(runtime, nnp, world):
    # The host refuses outright what the profile tells apart: the merged program has nothing left to tell.
    cases = [{"names": ["personality"], "action": "SCMP_ACT_LOG", "args": [{"index": 0, "value": v, "op": "SCMP_CMP_EQ"}]}
             for v in range(0, 64, 2)]
    world.layer("personality.bpf", bpf(("personality", errno_verdict(94))))
    world.settings([f"bpf:{world.layers}/personality.bpf"])
    start = world.run(runtime, world.config(nnp, dict(PROFILE, syscalls=cases)))
    expect_merged(start, {"personality": 94})
    record = expect_record(world, "installed")
    expect(record["instructions"]["after"] < record["layers"][-1]["instructions"], f"not shorter: {record['instructions']}")


@each(RUNTIMES, (False, True))
def both_stages_registered_run_one_tracer(runtime, nnp, world):
    stages = {"prestart": [world.hook()], "createRuntime": [world.hook()]}
    start = world.run(runtime, world.config(nnp, stages=stages))
    expect_merged(start)
    expect(len(world.records()) == 1, f"{len(world.records())} records")


@each(RUNTIMES)
def a_second_hook_with_another_configuration_is_refused(runtime, world):
    other = world.settings_path.parent / "other.yaml"
    other.write_text(world.settings_path.read_text() + "# other\n")
    second = world.hook()
    second["args"][2] = str(other)
    start = world.run(runtime, world.config(False, stages={"createRuntime": [world.hook(), second]}))
    expect_refused(start, "already traced by process")


@each(RUNTIMES, (False, True))
def observe_changes_nothing_and_says_what_it_would_do(runtime, nnp, world):
    world.layer("privileged.bpf", bpf(("setgroups", KILL_PROCESS), ("setresgid", KILL_PROCESS)))
    world.settings(world.default_layers + [f"bpf:{world.layers}/privileged.bpf"], "mode: observe\n")
    start = world.run(runtime, world.config(nnp))
    expect_merged(start, {"uname": 99, "umask": 0, "acct": 1})
    record = expect_record(world, "observed")
    expect(record["instructions"]["after"] > 0 and record["program_sha256"], "no program in the record")
    expect(bool(record["unmet_needs"]) == (not nnp), f"unmet needs: {record['unmet_needs']}")


@each(RUNTIMES)
def observe_lets_a_container_start_whatever_is_wrong(runtime, world):
    world.settings(world.default_layers + ["bpf:/nonexistent"], "mode: observe\n")
    expect_merged(world.run(runtime, world.config(True)), {"uname": 99, "umask": 0})
    expect_record(world, "observed", "/nonexistent")
    world.settings(world.default_layers, "mode: observe\n")


@each(RUNTIMES)
def exec_cover_is_refused_and_says_what_covers(runtime, world):
    world.settings_path.write_text(world.settings_path.read_text().replace("exec: accept", "exec: cover"))
    expect_refused(world.run(runtime, world.config(True)), "exec: cover", "runtime wrapper")
    world.settings_path.write_text(world.settings_path.read_text().replace("exec: cover\n", ""))
    expect_refused(world.run(runtime, world.config(True)), "exec: cover")


# ---- needed calls ------------------------------------------------------------------------------------------------
PRIVILEGED = {"runc": ("setgroups", "setuid", "capset"), "crun": ("setresgid", "setresuid", "capset")}


@each(RUNTIMES, (KILL_PROCESS, errno_verdict(1)))
def a_layer_without_privileged_calls_is_refused_without_no_new_privs(runtime, verdict, world):
    world.layer("stack/02.bpf", bpf(*((name, verdict) for name in PRIVILEGED[runtime])))
    start = world.run(runtime, world.config(False))
    expect_refused(start, f"{runtime} still needs {', '.join(PRIVILEGED[runtime])}", f"layer dir:{world.layers}/stack, filter 02.bpf",
                   "noNewPrivileges: true", "without the group")
    expect_record(world, "refused", "still needs")
    expect_merged(world.run(runtime, world.config(True)))


@each(RUNTIMES)
def a_needed_call_that_the_profile_refuses_names_the_rule(runtime, world):
    call = PRIVILEGED[runtime][0]
    profile = dict(PROFILE, syscalls=PROFILE["syscalls"] + [rule(call, 1)])
    start = world.run(runtime, world.config(False, profile))
    expect_refused(start, "still needs " + call, "/linux/seccomp/syscalls/2")


# ---- what is in the profile and what the runtime installs ---------------------------------------------------------
def mismatching_start(runtime, nnp, world):
    # The profile changes after the runtime read it and before we do.
    script = world.layer("rewrite.sh", b"#!/bin/sh\ncat >/dev/null\nsed -i 's/: 98/: 93/' \"$1\"\n")
    bundle = world.root / f"bundle{world.serial + 1}"
    rewrite = {"path": "/bin/sh", "args": ["sh", str(script), str(bundle / "config.json")], "env": ["PATH=/usr/bin:/bin"]}
    return world.run(runtime, world.config(nnp, stages={"createRuntime": [rewrite, world.hook()]}))


@each(RUNTIMES, (False, True))
def a_filter_unlike_the_profile_is_named_with_a_witness(runtime, nnp, world):
    start = mismatching_start(runtime, nnp, world)
    expect_merged(start, dict(MARKERS, personality=98))
    record = expect_record(world, "installed")
    expect("personality(8)" in record["mismatch"] and "ERRNO(93" in record["mismatch"] and "ERRNO(98" in record["mismatch"],
           "witness: " + record["mismatch"])
    expect(len(record["layers"]) == 4, f"the profile is no layer of its own: {record['layers']}")


@each(RUNTIMES, (False, True))
def on_mismatch_refuse_ends_the_container(runtime, nnp, world):
    world.settings(world.default_layers, "on_mismatch: refuse\n")
    start = mismatching_start(runtime, nnp, world)
    expect_refused(start)
    expect_record(world, "killed", "not what the profile says")


@each(RUNTIMES)
def select_adds_layers_by_annotation(runtime, world):
    world.layer("extra.bpf", bpf(("keyctl", errno_verdict(92))))
    world.settings(world.default_layers, f"apply:\n  select:\n    - annotation: tier=strict\n      layers: [bpf:{world.layers}/extra.bpf]\n")
    config = world.config(True)
    expect(world.run(runtime, config).facts()["keyctl"] != 92, "the layer applies without the annotation")
    config["annotations"] = {"tier": "strict"}
    expect_merged(world.run(runtime, config), dict(MARKERS, keyctl=92))


@each(RUNTIMES)
def a_warning_about_a_host_layer_is_in_the_record(runtime, world):
    misspelt = {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [rule("umaskk", 97), rule("umask", 97)]}
    world.layer("misspelt.json", json.dumps(misspelt).encode())
    world.settings([f"docker:{world.layers}/misspelt.json"])
    expect_merged(world.run(runtime, world.config(True)), {"umask": 97})
    notes = expect_record(world, "installed")["notes"]
    expect(len(notes) == 1 and "misspelt.json" in notes[0] and "umaskk" in notes[0], f"notes: {notes}")


@case("crun's raw filter annotation is the container's layer [crun]")
def crun_annotation(world):
    config = world.config(True, profile=None)
    config["annotations"] = {"run.oci.seccomp_bpf_data": base64.b64encode(bpf(("keyctl", errno_verdict(91)))).decode()}
    expect_merged(world.run("crun", config), {"umask": 97, "sethostname": 96, "acct": 95, "keyctl": 91})


@each(RUNTIMES)
def two_listeners_are_refused_with_both_names(runtime, world):
    world.layer("a.bpf", bpf(("keyctl", USER_NOTIF)))
    world.layer("b.bpf", bpf(("acct", USER_NOTIF)))
    world.settings([f"bpf:{world.layers}/a.bpf", f"bpf:{world.layers}/b.bpf"])
    expect_refused(world.run(runtime, world.config(True)), "two layers notify", "a.bpf", "b.bpf")


# ---- containers without a profile ----------------------------------------------------------------------------------
HOST_MARKERS = {"umask": 97, "sethostname": 96, "acct": 95, "uname": 0, "personality": 0}
EFFECTIVE = int(re.search(r"^CapEff:\t(\w+)", containers.read_proc("self", "status"), re.M).group(1), 16)
ALL_CAPS = [f"CAP_{name}" for bit, name in enumerate("""CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP
    LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE
    SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP
    MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE""".split()) if EFFECTIVE >> bit & 1]


def unconfined(world, nnp, privileged=False, **fields):
    config = world.config(nnp, profile=None, arguments=("/bin/probe", "wait"), **fields)
    if privileged:
        config["process"]["capabilities"] = {k: ALL_CAPS for k in ("bounding", "effective", "permitted")}
    return config


@each(RUNTIMES, (False, True), ("few capabilities", "privileged", "another user"))
def without_a_profile_the_host_layers_are_the_filter(runtime, nnp, kind, world):
    config = unconfined(world, nnp, privileged=kind == "privileged")
    if kind == "another user":
        config["process"]["user"] = {"uid": 1000, "gid": 1000, "additionalGids": [7]}
    start = world.start(runtime, config).read_until("ready")
    expect_ready(start)
    expect_merged(start, HOST_MARKERS if kind == "privileged" else {"umask": 97, "uname": 0})
    expect(start.facts()["NoNewPrivs"] == nnp, "no_new_privs is not what was asked for: " + start.output)
    equal = world.check_live("equal", start.init_pid(), INHERITED, *world.default_layers)
    expect(equal.returncode == 0, "the live filter is not the host layers: " + equal.stderr)
    wait_for(lambda: world.records(), "a record in the log")
    record = expect_record(world, "installed")
    expect(record["bytes_compared"] is True, "the kernel did not show the program back")
    expect(record["filters"] == {"before": 3, "after": 1, "inherited": INHERITED}, f"filters: {record['filters']}")
    expect([layer["filters"] for layer in record["layers"]] == [2, 1], f"layers: {record['layers']}")


@each(RUNTIMES, (False, True))
def without_a_profile_unconfined_skip_leaves_it_alone(runtime, nnp, world):
    world.settings(world.default_layers, "apply: {unconfined: skip}\n")
    start = world.start(runtime, unconfined(world, nnp)).read_until("ready")
    expect(start.facts().get("Seccomp_filters") == INHERITED, start.output + start.error)
    expect_record(world, "skipped", "`skip`")


@each(RUNTIMES, (False, True))
def without_a_profile_and_without_layers_there_is_nothing_to_do(runtime, nnp, world):
    extra = world.layer("extra.bpf", bpf(("keyctl", errno_verdict(92))))
    world.settings_path.write_text("version: 1\nexec: accept\n" f"log: {world.log}\n"
                                   f"apply: {{select: [{{annotation: tier=strict, layers: ['bpf:{extra}']}}]}}\n")
    start = world.start(runtime, unconfined(world, nnp)).read_until("ready")
    expect(start.facts().get("Seccomp_filters") == INHERITED, start.output + start.error)
    expect_record(world, "skipped", "no host layer")
    config = unconfined(world, nnp)
    config["annotations"] = {"tier": "strict"}
    expect_merged(world.start(runtime, config).read_until("ready"), {"keyctl": 92})


@each(RUNTIMES, (False, True))
def without_a_profile_observe_changes_nothing(runtime, nnp, world):
    world.settings(world.default_layers, "mode: observe\n")
    start = world.start(runtime, unconfined(world, nnp)).read_until("ready")
    expect(start.facts().get("Seccomp_filters") == INHERITED, start.output + start.error)
    wait_for(lambda: world.records(), "a record in the log")
    expect(expect_record(world, "observed")["instructions"]["after"] > 0, "no program in the record")


@each(RUNTIMES)
def without_a_profile_needed_calls_are_looked_at_before(runtime, world):
    world.layer("stack/02.bpf", bpf(*((name, KILL_PROCESS) for name in PRIVILEGED[runtime])))
    expect_refused(world.run(runtime, unconfined(world, False)), f"{runtime} still needs {', '.join(PRIVILEGED[runtime])}",
                   f"layer dir:{world.layers}/stack, filter 02.bpf")
    # With no_new_privs the program goes in at the execve, which is all that is left to do.
    expect_ready(world.start(runtime, unconfined(world, True)).read_until("ready"))
    world.layer("stack/03.bpf", bpf(("execve", errno_verdict(1))))
    for nnp in (False, True):
        expect_refused(world.run(runtime, unconfined(world, nnp)), "still needs", "execve", "03.bpf")


@each(RUNTIMES, (False, True))
def without_a_profile_create_may_wait_for_start(runtime, nnp, world):
    world.settings(world.default_layers, "install_timeout: 1s\n")
    start = world.start(runtime, unconfined(world, nnp, privileged=True), verb="create")
    expect(start.process.wait(DEADLINE) == 0, "create failed")
    expect(filter_count(start.init_pid()) == INHERITED + (not nnp), "not the filters of a created container")
    if nnp:  # Longer than the watchdog, by its clock; there is no event to wait for.
        containers.select.select([], [], [], 1.5)
    subprocess.run(world.command(runtime) + ["start", start.container], check=True, timeout=DEADLINE, capture_output=True)
    expect_merged(start.read_until("ready"), HOST_MARKERS)


@each(RUNTIMES, (False, True))
def without_a_profile_a_program_that_is_missing_in_the_image_leaves_nothing(runtime, nnp, world):
    config = unconfined(world, nnp)
    config["process"]["args"] = ["/bin/nothing"]
    expect_refused(world.run(runtime, config))
    wait_for(lambda: not processes_named(world.mark()), "the tracer's end")


# ---- configuration -----------------------------------------------------------------------------------------------
@each(RUNTIMES, (
    ("host_layers: [\n", "config.yaml:"), ("version: 2\n", "version is '2'"), ("version: 1\nmood: good\n", "unknown key 'mood'"),
    ("version: 1\nversion: 1\n", "twice"), ("version: 1\nmode: &a enforce\non_failure: *a\n", "not accepted"),
    ("version: 1\nexec: maybe\n", "exec is 'maybe'"), ("host_layers: []\n", "version is missing"),
    ("version: 1\nexec: accept\nhost_layers: ['spo:/x']\n", "cannot read layers of kind 'spo'"),
    ("version: 1\n" + "#" * 70000, "larger than"), ("version: 1\ninstall_timeout: 10\n", "not a duration"),
    ("version: 1\napply: " + "[" * 20 + "]" * 20, "nesting"), ("", "not a mapping")))
def a_faulty_configuration_is_refused(runtime, fault, world):
    text, message = fault
    world.settings_path.write_text(text)
    expect_refused(world.run(runtime, world.config(True)), message)


def break_owner(path):
    os.chown(path, 65534, 65534)


def break_group(path):
    path.chmod(0o664)


def break_others(path):
    path.chmod(0o646)


def break_link(path):
    path.rename(path.with_suffix(".real"))
    path.symlink_to(path.with_suffix(".real"))


def break_missing(path):
    path.unlink()


def break_folder(path):
    path.unlink()
    path.mkdir()


def break_fifo(path):
    path.unlink()
    os.mkfifo(path, 0o600)


def mend(path):
    with contextlib.suppress(OSError):
        path.rmdir()
    path.unlink(missing_ok=True)
    path.with_suffix(".real").unlink(missing_ok=True)


BREAKS = {"wrong owner": (break_owner, "not by root"), "writable by group": (break_group, "writable by group"),
          "writable by others": (break_others, "writable by group or others"), "a link": (break_link, "symbolic link"),
          "missing": (break_missing, "No such file"), "a folder": (break_folder, "not a regular file"),
          "a fifo": (break_fifo, "not a regular file")}


@each(RUNTIMES, BREAKS, ("configuration", "layer"))
def a_file_that_is(runtime, fault, which, world):
    path = world.settings_path if which == "configuration" else world.layers / "umask97.bpf"
    break_it, message = BREAKS[fault]
    break_it(path)
    try:
        expect_refused(world.run(runtime, world.config(True)), path.name, message)
        if which == "layer":
            expect_record(world, "refused", message)
    finally:
        mend(path)
        world.write_default_settings()


@each(RUNTIMES)
def a_folder_that_others_can_write_is_refused(runtime, world):
    world.layers.chmod(0o777)
    expect_refused(world.run(runtime, world.config(True)), str(world.layers), "writable by group or others")
    world.layers.chmod(0o755)
    (world.layers / "stack").chmod(0o775)
    expect_refused(world.run(runtime, world.config(True)), "stack", "writable by group or others")


@each(RUNTIMES, ((b"abc", "8"), (b"", "empty"), (bpf() * 4097, "larger than"), (b"\xff" * 8, "instruction")))
def a_layer_that_is_no_program_is_refused(runtime, fault, world):
    data, message = fault
    world.layer("stack/05.bpf", data)
    expect_refused(world.run(runtime, world.config(True)), "05.bpf", message)


@each(RUNTIMES)
def an_oversized_profile_is_refused(runtime, world):
    config = world.config(True)
    config["annotations"] = {"padding": "x" * (5 << 20)}
    expect_refused(world.run(runtime, config))
    expect_record(world, "refused", "larger than")


@each(RUNTIMES, ("linux", "linux.SECCOMP", "process", "annotations", "hooks"))
def a_key_that_differs_in_case_is_refused(runtime, key, world):
    config = world.config(True)
    text = containers.json.dumps(config)
    if key == "linux.SECCOMP":
        text = text.replace('"seccomp":', '"SECCOMP": null, "seccomp":', 1)
    else:
        text = text[:-1] + f', "{key.upper()}": null}}'
    # Neither runtime would get as far as its hooks with each of these; ours is asked about a real init of theirs.
    bundle = world.bundle(text)
    script = world.layer("ask.sh", (f"#!/bin/sh\nsed 's#\"bundle\": *\"[^\"]*\"#\"bundle\":\"{bundle}\"#' |"
                                    f" {world.tools['hook']} --config {world.settings_path}\n").encode())
    config = world.config(True, stages={"createRuntime": [{"path": "/bin/sh", "args": ["sh", str(script)]}]})
    expect_refused(world.run(runtime, config), "only in case", key.split(".")[-1])


@each(RUNTIMES)
def the_file_disabled_lets_everything_pass_with_a_record(runtime, world):
    disabled = world.settings_path.parent / "disabled"
    disabled.write_text("")
    start = world.run(runtime, world.config(True))
    expect_merged(start, {"uname": 99, "umask": 0})
    expect_record(world, "disabled")
    break_others(disabled)
    expect_refused(world.run(runtime, world.config(True)), "disabled", "writable by group or others")


@each(RUNTIMES)
def the_environment_changes_nothing(runtime, world):
    hook = world.hook(env=["SECCOMPRESS_CONFIG=/nonexistent", "LD_PRELOAD=/nonexistent", "HOME=/nonexistent", "TZ=/nonexistent"])
    expect_merged(world.run(runtime, world.config(True, stages={"createRuntime": [hook]})))


@each(RUNTIMES)
def on_failure_runtime_profile_goes_on_with_a_warning(runtime, world):
    (world.layers / "umask97.bpf").unlink()
    world.settings(world.default_layers, "on_failure: runtime-profile\n")
    start = world.run(runtime, world.config(True))
    expect_merged(start, {"uname": 99, "umask": 0})
    record = expect_record(world, "let-through", "umask97.bpf")
    expect("runtime's own profile" in record["notes"][0], f"notes: {record['notes']}")


# ---- status ------------------------------------------------------------------------------------------------------
def expect_status(world, code, state, *words):
    answer = world.cli("status", "--config", world.settings_path, "--json")
    expect(answer.returncode == code, f"status gave {answer.returncode}: {answer.stdout}{answer.stderr}")
    report = containers.json.loads(answer.stdout)
    states = [c["state"] for c in report["containers"]]
    expect(states == ([state] if state else []), f"states: {report}")
    for word in words:
        expect(word in report["containers"][0]["why"], f"'{word}' is not why: {report}")
    return report


@each(RUNTIMES, ("profile", "no profile"))
def status_tells_up_to_date_from_stale(runtime, kind, world):
    expect_status(world, 0, None)
    config = world.config(True, PROFILE if kind == "profile" else None, arguments=("/bin/probe", "wait"))
    start = world.start(runtime, config).read_until("ready")
    wait_for(lambda: world.records(), "a record in the log")
    shown = expect_status(world, 0, "up to date")["containers"][0]
    expect(shown["container"] == start.container and shown["pid"] == start.init_pid() and shown["route"] == "ptrace-hook", f"{shown}")
    expect(shown["program_sha256"] == world.records()[0]["program_sha256"], f"{shown}")
    text = world.cli("status", "--config", world.settings_path).stdout
    expect(start.container in text and "up to date" in text and shown["program_sha256"][:12] in text, text)
    world.layer("umask97.bpf", bpf(("umask", errno_verdict(98))))
    expect_status(world, 1, "stale", "files changed")
    world.layer("umask97.bpf", bpf(("umask", errno_verdict(97))))
    expect_status(world, 0, "up to date")
    world.settings(world.default_layers[:1] + [f"bpf:{world.layers}/more.bpf"])
    expect_status(world, 1, "stale", "another list")
    world.write_default_settings()
    with world.log.open("a") as log:
        log.write("no record\n{}\n" + '{"container": 7}\n')
    expect_status(world, 0, "up to date")
    world.remove(start)
    expect_status(world, 0, None)


@case("status tells what runs without its layers")
def status_without(world):
    (world.layers / "umask97.bpf").unlink()
    world.settings(world.default_layers, "on_failure: runtime-profile\n")
    world.start("runc", world.config(True, arguments=("/bin/probe", "wait"))).read_until("ready")
    expect_status(world, 1, "without", "let-through")
    world.settings_path.write_text("version: 1\n")
    answer = world.cli("status", "--config", world.settings_path)
    expect(answer.returncode == 2 and "no `log:`" in answer.stderr, f"{answer}")
    (world.settings_path.parent / "disabled").write_text("")
    world.write_default_settings()
    expect("disabled" in world.cli("status", "--config", world.settings_path).stdout, "status does not say disabled")


@each(RUNTIMES)
def the_file_disabled_is_the_way_out_of_a_broken_configuration(runtime, world):
    world.settings_path.write_text("version: 7\n")
    expect_refused(world.run(runtime, world.config(True)), "version is '7'")
    (world.settings_path.parent / "disabled").write_text("")
    expect_merged(world.run(runtime, world.config(True)), {"uname": 99, "umask": 0})


# ---- identity ----------------------------------------------------------------------------------------------------
def ask(world, state):
    return subprocess.run([world.tools["hook"], "--config", world.settings_path], input=state, capture_output=True, text=True,
                          timeout=DEADLINE)


def state_of(world, pid):
    bundle = world.bundle(world.config(True))
    return containers.json.dumps({"ociVersion": "1.0", "id": "x", "pid": pid, "status": "created", "bundle": str(bundle)})


def expect_answer(answer, message):
    expect(answer.returncode == 1 and message in answer.stderr, f"{answer.returncode} {answer.stderr!r}")


@case("a pid that is no runtime's init is refused")
def foreign_pid(world):
    expect_answer(ask(world, state_of(world, os.getpid())), "init of neither runc nor crun")
    for pid in (0, 1):
        expect_answer(ask(world, state_of(world, pid)), f"pid is {pid}")
    expect_answer(ask(world, state_of(world, 2 ** 22 - 1)), "No such process")
    expect_record(world, "refused")


@case("an init that is not the calling runtime's child is refused")
def stranger(world):
    # A process that calls itself crun, whose parent is no ancestor of the hook.
    code = "import os,sys; open('/proc/self/comm','w').write('crun'); print(os.getpid(), flush=True); sys.stdin.read()"
    script = f"import subprocess,sys; sys.exit(subprocess.run([sys.executable, '-c', {code!r}]).returncode)"
    with subprocess.Popen([sys.executable, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as parent:
        pid = int(parent.stdout.readline())
        expect_answer(ask(world, state_of(world, pid)), "is not the runtime that started this hook")
        parent.stdin.close()


@case("a zombie is refused")
def zombie(world):
    with subprocess.Popen(["/bin/true"]) as child:
        wait_for(lambda: process_state(child.pid) == "Z", "a zombie")
        expect_answer(ask(world, state_of(world, child.pid)), "already ended")


@case("a state that cannot be read is refused")
def bad_state(world):
    for text, message in (("", "state"), ("{", "state"), ("[]", "object"), ("{}", "pid"), ('{"pid": "7"}', "integer"),
                          ('{"pid": 7, "pid": 8, "id": "x", "bundle": "/"}', "pid"), ('{"pid":7,"id":"x","bundle":"rel"}', "absolute"),
                          ("x" * 70000, "larger than")):
        expect_answer(ask(world, text), message)


# ---- time --------------------------------------------------------------------------------------------------------
def blocking_hook(world):
    fifo = world.root / "never"
    if not fifo.exists():
        os.mkfifo(fifo)
    return {"path": "/bin/sh", "args": ["sh", "-c", f"exec cat < {fifo}"]}


@each(RUNTIMES, (False, True))
def the_watchdog_ends_a_start_that_never_installs(runtime, nnp, world):
    world.settings(world.default_layers, "install_timeout: 300ms\n")
    stages = {"createRuntime": [world.hook()], "createContainer": [blocking_hook(world)]}
    start = world.run(runtime, world.config(nnp, stages=stages))
    expect_refused(start)
    wait_for(lambda: world.records(), "a record in the log")
    expect_record(world, "killed", "within install_timeout")


@each((False, True))
def crun_may_wait_for_start_longer_than_the_watchdog(nnp, world):
    world.settings(world.default_layers, "install_timeout: 1s\n")
    start = world.start("crun", world.config(nnp, arguments=("/bin/probe", "wait")), verb="create")
    expect(start.process.wait(DEADLINE) == 0, "create failed")
    if nnp:
        # Longer than the watchdog, by the clock that the watchdog uses; there is no event to wait for.
        containers.select.select([], [], [], 1.5)
        expect(filter_count(start.init_pid()) == INHERITED, "crun installed before start")
        expect(processes_named(world.mark()), "the tracer is gone")
    subprocess.run(world.command("crun") + ["start", start.container], check=True, timeout=DEADLINE, capture_output=True)
    expect_merged(start.read_until("ready"))


@each(RUNTIMES)
def a_container_that_ends_before_its_install_leaves_no_tracer(runtime, world):
    stages = {"createRuntime": [world.hook()], "createContainer": [{"path": "/bin/false"}]}
    expect_refused(world.run(runtime, world.config(True, stages=stages)))
    wait_for(lambda: not processes_named(world.mark()), "the tracer's end")


@case("the hook's own time-out [runc]")
def hook_timeout(world):
    hook = paused_hook(world, "seized", timeout=1)
    with hook.listen():
        start = world.run("runc", world.config(True, stages={"createRuntime": [hook.entry]}))
    expect_refused(start)
    wait_for(lambda: not processes_named(world.mark()), "the tracer's end")


@each(RUNTIMES, ("started", "seized"))
def a_tracer_that_hangs_before_it_is_armed_fails_the_hook(runtime, step, world):
    world.settings(world.default_layers, "install_timeout: 300ms\n")
    hook = paused_hook(world, step)
    with hook.listen():
        start = world.run(runtime, world.config(True, stages={"createRuntime": [hook.entry]}))
    expect_refused(start, "did not report back within install_timeout")


@each(RUNTIMES)
def a_bundle_that_changes_under_us_is_refused(runtime, world):
    hook = paused_hook(world, "started")
    with hook.listen():
        start = world.start(runtime, world.config(True, stages={"createRuntime": [hook.entry]}))
        tracer = hook.wait_paused()
        path = start.bundle / "config.json"
        path.write_text(path.read_text().replace(": 98", ": 93"))
        os.kill(tracer, signal.SIGCONT)
        expect_refused(start.finish(), "changed while the container was being started")


# ---- kill, stop and freeze at every step ---------------------------------------------------------------------------
BEFORE_ARMED = ("started", "seized")
STEPS = BEFORE_ARMED + ("armed", "entry", "decided", "swapped", "installed", "checked", "detached")
HAS_FILTER = ("installed", "checked", "detached")


class PausedHook:
    def __init__(self, world, step, **fields):
        self.world, self.fifo = world, world.root / f"steps{world.serial}"
        if not self.fifo.exists():
            os.mkfifo(self.fifo)
        self.entry = world.hook("faults", "--pause-at", step, "--notify", self.fifo, **fields)

    @contextlib.contextmanager
    def listen(self):
        self.reader = os.open(self.fifo, os.O_RDWR)
        try:
            yield
        finally:
            os.close(self.reader)

    def wait_paused(self):
        ready, _, _ = containers.select.select([self.reader], [], [], DEADLINE)
        expect(ready, "the tracer never came to the step")
        tracer = int(os.read(self.reader, 64))
        wait_for(lambda: process_state(tracer) == "T", "the tracer's stop")
        return tracer


def paused_hook(world, step, **fields):
    return PausedHook(world, step, **fields)


def start_paused(runtime, nnp, step, world, profile=PROFILE):
    hook = paused_hook(world, step)
    context = hook.listen()
    context.__enter__()
    start = world.start(runtime, world.config(nnp, profile, stages={"createRuntime": [hook.entry]}))
    try:
        tracer = hook.wait_paused()
        if step != "detached":
            expect(start.printed_nothing(), f"the container runs before '{step}' is over")
    finally:
        context.__exit__(None, None, None)
    return start, tracer


@each(RUNTIMES, (False, True), STEPS)
def kill_the_tracer_at(runtime, nnp, step, world):
    start, tracer = start_paused(runtime, nnp, step, world)
    os.kill(tracer, signal.SIGKILL)
    start.finish()
    if step == "detached":
        expect_merged(start)
    elif step in BEFORE_ARMED:
        expect_refused(start, "the tracer ended before it was armed")
    else:
        expect_refused(start)


@each(RUNTIMES, (False, True), STEPS)
def stop_the_tracer_at(runtime, nnp, step, world):
    start, tracer = start_paused(runtime, nnp, step, world)
    os.kill(tracer, signal.SIGSTOP)
    os.kill(tracer, signal.SIGCONT)
    expect_merged(start.finish())


@each(RUNTIMES, (False, True), STEPS)
def without_a_profile_kill_the_tracer_at(runtime, nnp, step, world):
    start, tracer = start_paused(runtime, nnp, step, world, profile=None)
    os.kill(tracer, signal.SIGKILL)
    start.finish()
    if step == "detached":
        expect_merged(start, {"umask": 97, "uname": 0})
    else:
        expect_refused(start)


@each(RUNTIMES, (False, True), STEPS)
def without_a_profile_stop_the_tracer_at(runtime, nnp, step, world):
    start, tracer = start_paused(runtime, nnp, step, world, profile=None)
    os.kill(tracer, signal.SIGSTOP)
    os.kill(tracer, signal.SIGCONT)
    expect_merged(start.finish(), {"umask": 97, "uname": 0})


def freeze_at(runtime, nnp, step, kind, world):
    with freezer.Freezer(world, kind) as ice:
        if not ice.kind:
            return f"this kernel has no {kind}"
        start, tracer = start_paused(runtime, nnp, step, world)
        ice.hold(tracer)
        if step != "detached":
            expect(start.printed_nothing(), "the container runs while its tracer is frozen")
        ice.release()
        expect_merged(start.finish())
    return None


@each(RUNTIMES, (False, True), STEPS)
def freeze_the_tracer_at(runtime, nnp, step, world):
    return freeze_at(runtime, nnp, step, None, world)


@each(RUNTIMES, freezer.KINDS)
def freeze_the_tracer_by(runtime, kind, world):
    return freeze_at(runtime, False, "swapped", kind, world)


@each(RUNTIMES, ("armed", "entry", "swapped", "installed"))
def a_tracer_stopped_for_ever_starts_nothing_and_ends_with_it(runtime, step, world):
    start, tracer = start_paused(runtime, False, step, world)
    start.process.kill()  # the engine gives up
    start.process.wait(DEADLINE)
    os.kill(tracer, signal.SIGCONT)
    wait_for(lambda: not processes_named(world.mark()), "the tracer's end")
    if start.finish().output:  # crun's init may get through when nobody is left to stop it
        expect_merged(start)


def main():
    def prepare(world, _):
        with freezer.Freezer(world) as ice:
            print("processes are frozen by", ice.kind)
    return containers.main(CASES, prepare=prepare)


if __name__ == "__main__":
    sys.exit(main())
