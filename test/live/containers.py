# SPDX-License-Identifier: Apache-2.0
"""Real containers for the live tests: bundles, runs, and what is left of them afterwards.

Everything lives below one fresh folder in /var/lib (every component root-owned: the hook refuses /tmp). Waiting is
always for an event (a line, a process's end) with a deadline; nothing sleeps.
"""
import argparse
import contextlib
import hashlib
import json
import os
import pathlib
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

DEADLINE = 15.0  # seconds that any single event may take
NATIVE = 0xC000003E
NUMBERS = {"uname": 63, "umask": 95, "sethostname": 170, "acct": 163, "setgroups": 116, "setuid": 105, "capset": 126,
           "setresuid": 117, "setresgid": 119, "personality": 135, "keyctl": 250,
           "execve": 59}


def errno_verdict(number):
    return 0x00050000 | number


KILL_PROCESS, ALLOW, USER_NOTIF = 0x80000000, 0x7FFF0000, 0x7FC00000


def bpf(*calls, padding=0):
    """A filter: each (name, verdict), everything else allowed. padding: instructions without effect in front."""
    ins = lambda code, jt, jf, k: struct.pack("<HBBI", code, jt, jf, k)
    body = b"".join(ins(0x15, 0, 1, NUMBERS[name]) + ins(6, 0, 0, verdict) for name, verdict in calls)
    return (ins(0x20, 0, 0, 4) * (padding + 1) + ins(0x15, 1, 0, NATIVE) + ins(6, 0, 0, ALLOW) + ins(0x20, 0, 0, 0) + body +
            ins(6, 0, 0, ALLOW))


def rule(name, errno, args=None):
    entry = {"names": [name], "action": "SCMP_ACT_ERRNO", "errnoRet": errno}
    if args:
        entry["args"] = args
    return entry


PROFILE = {
    "defaultAction": "SCMP_ACT_ALLOW", "architectures": ["SCMP_ARCH_X86_64", "SCMP_ARCH_X86"],
    "syscalls": [rule("uname", 99), rule("personality", 98, [{"index": 0, "value": 8, "op": "SCMP_CMP_EQ"}])]}
# What the two runtimes' init, the probe and libc need; everything else is EPERM.
ALLOW_LIST = {
    "defaultAction": "SCMP_ACT_ERRNO", "architectures": ["SCMP_ARCH_X86_64"],
    "syscalls": [rule("uname", 99), {"action": "SCMP_ACT_ALLOW", "names": """
        access arch_prctl brk capget capset chdir clock_gettime clone close dup dup3 epoll_create1 epoll_ctl epoll_pwait
        execve exit exit_group faccessat2 fchdir fcntl fstat fstatfs futex getcwd getdents64 getegid geteuid getgid getpid
        getppid getrandom gettid getuid ioctl lseek madvise mmap mprotect munmap nanosleep newfstatat openat pause pipe2 prctl
        pread64 prlimit64 read readlink rseq rt_sigaction rt_sigprocmask rt_sigreturn sched_yield select set_robust_list
        set_tid_address setgid setgroups setresgid setresuid setuid sigaltstack statx tgkill umask wait4 write writev
        acct sethostname getpriority""".split()}]}


class Failed(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Failed(what)


def wait_for(predicate, what, seconds=DEADLINE):
    """For facts that have no descriptor to wait on: a process's state in /proc."""
    end = time.monotonic() + seconds
    while not predicate():
        if time.monotonic() > end:
            raise Failed("never happened: " + what)
        os.sched_yield()


def read_proc(pid, name):
    try:
        return pathlib.Path(f"/proc/{pid}/{name}").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def process_state(pid):
    stat = read_proc(pid, "stat")
    return stat[stat.rindex(")") + 2] if ")" in stat else ""


def filter_count(pid):
    match = re.search(r"^Seccomp_filters:\t(\d+)", read_proc(pid, "status"), re.M)
    return int(match.group(1)) if match else -1


def processes_named(comm):
    """Living ones: who reaps an orphan, and when, is not ours to test."""
    return [int(p.name) for p in pathlib.Path("/proc").iterdir()
            if p.name.isdigit() and read_proc(p.name, "comm").rstrip("\n") == comm and process_state(p.name) not in ("Z", "X", "")]


def enter_private_mounts():
    """crun 1.8.1 refuses hybrid cgroups: run everything where only the v1 hierarchies are seen."""
    if os.environ.get("SECCOMPRESS_LIVE_NAMESPACE") == "1":
        with contextlib.suppress(subprocess.CalledProcessError):
            if os.path.isdir("/sys/fs/cgroup/unified"):
                subprocess.run(["umount", "/sys/fs/cgroup/unified"], check=True, capture_output=True)
        return
    os.environ["SECCOMPRESS_LIVE_NAMESPACE"] = "1"
    os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable] + sys.argv)


def skip_unless_possible(runtimes=("runc", "crun")):
    if os.geteuid() != 0:
        print("skipped: needs root")
        sys.exit(77)
    missing = [name for name in runtimes if shutil.which(name) is None]
    if missing:
        print("skipped: not installed:", " ".join(missing))
        sys.exit(77)


class Start:
    """One `run` (or `create`) of a runtime in the foreground."""

    def __init__(self, world, runtime, container, bundle, verb, third=None):
        self.world, self.runtime, self.container = world, runtime, container
        self.output = self.error = ""
        self.hook_output = bundle / "hook.err"
        self.process = subprocess.Popen(
            world.command(runtime) + ([verb] if isinstance(verb, str) else verb) + ["--pid-file", str(bundle / "pid"), container],
            cwd=bundle, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, close_fds=third is None,
            preexec_fn=None if third is None else lambda: (os.dup2(third, 3), os.set_inheritable(3, True)))
        self.pid_file = bundle / "pid"

    def read_until(self, line):
        """The probe's lines up to `line`; short when it ended before."""
        end = time.monotonic() + DEADLINE
        while f"\n{line}\n" not in "\n" + self.output:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            expect(ready, f"no '{line}' from the container within {DEADLINE} s; so far: {self.output!r}")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                break
            self.output += data.decode()
        return self

    def printed_nothing(self):
        ready, _, _ = select.select([self.process.stdout], [], [], 0)
        return not self.output and not ready

    def init_pid(self):
        # The runtime writes it (beside, then renamed) after it let the container go.
        wait_for(lambda: self.pid_file.exists() and self.pid_file.read_text(), "the pid file")
        return int(self.pid_file.read_text())

    def finish(self):
        try:
            out, err = self.process.communicate(timeout=DEADLINE)
        except subprocess.TimeoutExpired:
            raise Failed("the runtime did not come back") from None
        self.output += out.decode()
        # crun does not show what its hooks say; it writes it to a file named by an annotation.
        self.error = err.decode() + (self.hook_output.read_text() if self.hook_output.exists() else "")
        return self

    def facts(self):
        """{"uname": 99, "Seccomp_filters": 1, ...}: errnos of calls, values of status fields."""
        return {words[0]: int(words[-1]) for words in map(str.split, self.output.splitlines()) if len(words) > 1}


class World:
    def __init__(self, arguments):
        self.starts, self.serial, self.tools = [], 0, {}
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="seccompress-test.", dir="/var/lib"))
        self.root.chmod(0o755)
        for name in ("hook", "faults", "probe", "check_live", "cli"):
            if getattr(arguments, name, None):
                self.tools[name] = self.root / name.replace("_", "-")
                shutil.copy(getattr(arguments, name), self.tools[name])
        self.rootfs = self.root / "rootfs"  # empty but for the probe
        for folder in ("bin", "proc", "dev", "sys", "tmp", "etc"):
            (self.rootfs / folder).mkdir(parents=True)
        shutil.copy(self.tools["probe"], self.rootfs / "bin/probe")
        self.layers = self.root / "layers"
        self.layers.mkdir()
        self.settings_path = self.root / "etc" / "config.yaml"
        self.settings_path.parent.mkdir()
        self.log = self.root / "log"
        self.write_default_settings()

    # ---- configuration ----
    def layer(self, name, data):
        path = self.layers / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
        return path

    def write_default_settings(self):
        self.layer("umask97.bpf", bpf(("umask", errno_verdict(97))))
        self.layer("stack/00.bpf", bpf(("sethostname", errno_verdict(96)), ("umask", errno_verdict(11))))
        self.layer("stack/01.bpf", bpf(("acct", errno_verdict(95))))
        self.default_layers = [f"dir:{self.layers}/stack", f"bpf:{self.layers}/umask97.bpf"]
        self.settings(self.default_layers)

    def settings(self, layers, extra="", version="version: 1\n"):
        names = "".join(f"  - {layer}\n" for layer in layers)
        text = f"{version}host_layers:\n{names}exec: accept\nlog: {self.log}\n{extra}"
        self.settings_path.write_text(text)
        self.settings_path.chmod(0o644)
        return text

    def mark(self):
        text = str(self.settings_path).encode() + b"\0" + self.settings_path.read_bytes()
        return "scmp-" + hashlib.sha256(text).hexdigest()[:10]

    def records(self):
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    # ---- containers ----
    def hook(self, tool="hook", *arguments, **fields):
        path = str(self.tools[tool])
        return {"path": path, "args": [path, "--config", str(self.settings_path), *map(str, arguments)], **fields}

    def config(self, nnp, profile=PROFILE, stages=None, arguments=("/bin/probe",)):
        caps = ["CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE"]
        config = {
            "ociVersion": "1.0.2", "hostname": "test", "root": {"path": str(self.rootfs), "readonly": True},
            "process": {"args": list(arguments), "cwd": "/", "env": ["PATH=/bin"], "noNewPrivileges": nnp,
                        "user": {"uid": 0, "gid": 0},
                        "capabilities": {k: caps for k in ("bounding", "effective", "permitted", "inheritable")}},
            "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
            "hooks": stages if stages is not None else {"createRuntime": [self.hook()]},
            "linux": {"namespaces": [{"type": t} for t in ("pid", "ipc", "uts", "mount")]}}
        if profile is not None:
            config["linux"]["seccomp"] = profile
        return config

    def bundle(self, config):
        self.serial += 1
        folder = self.root / f"bundle{self.serial}"
        folder.mkdir()
        text = config if isinstance(config, str) else json.dumps(config, indent=1)
        (folder / "config.json").write_text(text)
        return folder

    def command(self, runtime):
        return [runtime, "--root", str(self.root / f"state-{runtime}")]

    def start(self, runtime, config, verb="run", third=None):
        """third: what the runtime shall have as its descriptor 3."""
        if runtime == "crun" and not isinstance(config, str):
            output = self.root / f"bundle{self.serial + 1}" / "hook.err"
            config = dict(config, annotations={"run.oci.hooks.stderr": str(output), **config.get("annotations", {})})
        bundle = self.bundle(config)
        start = Start(self, runtime, f"sct-{os.getpid()}-{self.serial}", bundle, verb, third)
        start.bundle = bundle
        self.starts.append(start)
        return start

    def run(self, runtime, config):
        return self.start(runtime, config).finish()

    def cli(self, *arguments):
        return subprocess.run([self.tools["cli"], *map(str, arguments)], capture_output=True, text=True, timeout=DEADLINE)

    def check_live(self, *arguments):
        return subprocess.run([self.tools["check_live"], *map(str, arguments)], capture_output=True, text=True, timeout=DEADLINE)

    def runtimes_own_program(self, runtime, nnp, profile):
        """What the runtime installs by itself, read from a container without our hook. Asked of it once."""
        text = json.dumps([runtime, nnp, profile])
        path = self.root / "own" / (hashlib.sha256(text.encode()).hexdigest() + ".bpf")
        if path.exists():
            return path
        path.parent.mkdir(exist_ok=True)
        start = self.start(runtime, self.config(nnp, profile, stages={}, arguments=("/bin/probe", "wait"))).read_until("ready")
        dumped = self.check_live("dump", start.init_pid(), filter_count("self"), path)
        self.remove(start)
        expect(dumped.returncode == 0, dumped.stderr)
        return path

    def remove(self, start):
        subprocess.run(self.command(start.runtime) + ["delete", "-f", start.container], capture_output=True, timeout=DEADLINE)
        if start.process.poll() is None:
            try:
                start.process.wait(DEADLINE)
            except subprocess.TimeoutExpired:
                start.process.kill()
                start.process.wait(DEADLINE)
        start.process.stdout.close()
        start.process.stderr.close()
        if start in self.starts:
            self.starts.remove(start)

    def remove_all(self):
        for start in list(self.starts):
            self.remove(start)

    def clean_after_case(self):
        """Removes what a case left; raises when a tracer of ours is still there."""
        self.remove_all()
        left = []
        try:
            wait_for(lambda: not processes_named(self.mark()), "the tracer's end", 5)
        except Failed:
            left = processes_named(self.mark())
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        shutil.rmtree(self.layers)
        self.layers.mkdir()
        self.log.unlink(missing_ok=True)
        (self.settings_path.parent / "disabled").unlink(missing_ok=True)
        self.write_default_settings()
        expect(not left, f"a tracer was left behind: {left}")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        for start in list(self.starts):
            self.remove(start)
        shutil.rmtree(self.root, ignore_errors=True)


def main(cases, *options, runtimes=None, prepare=lambda world, arguments: None):
    """A driver's whole life: its options, the privileges it needs, its world, its cases. `prepare` adds to the world."""
    parser = argparse.ArgumentParser()
    for name in ("--hook", "--faults", "--probe", "--check-live", "--cli", *options):
        parser.add_argument(name, required=True, type=os.path.abspath)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    skip_unless_possible(*([runtimes] if runtimes else []))
    enter_private_mounts()
    with World(arguments) as world:
        prepare(world, arguments)
        return run_cases(cases, world, arguments.only)


def run_cases(cases, world, only=""):
    """cases: (name, function). Prints one line each; returns the exit status."""
    counts = {"ok": 0, "FAILED": 0, "skipped": 0}
    for name, function in cases:
        if only and only not in name:
            continue
        began, verdict, why = time.monotonic(), "ok", ""
        try:
            reason = function(world)
            if reason:
                verdict, why = "skipped", ": " + reason
        except (Failed, subprocess.SubprocessError, OSError, ValueError, KeyError) as error:
            verdict, why = "FAILED", f": {type(error).__name__}: {error}"
        try:
            world.clean_after_case()
        except (Failed, subprocess.SubprocessError, OSError) as error:
            verdict, why = "FAILED", why + f" [afterwards: {error}]"
        counts[verdict] += 1
        print(f"{verdict:8}{name} ({(time.monotonic() - began) * 1000:.0f} ms){why}", flush=True)
    print("{ok} passed, {FAILED} failed, {skipped} skipped".format(**counts))
    return 1 if counts["FAILED"] or not counts["ok"] else 0
