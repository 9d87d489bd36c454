# SPDX-License-Identifier: Apache-2.0
"""Holds a process still from outside, as a freezer of containers does: a cgroup of v1's freezer or of v2, in a mount of
its own, so that it does not matter what the host has mounted where; where the kernel has neither, the stop signal.

The process is stopped by SIGSTOP when it comes here. In a frozen cgroup SIGCONT does not let it go on.
"""
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile

from containers import expect, wait_for

# How to mount it; the file that freezes, what to write to freeze and to thaw; the file that tells, and what it says then.
HIERARCHIES = {"cgroup v1": (("-t", "cgroup", "-o", "freezer"), "freezer.state", "FROZEN", "THAWED", "freezer.state", "FROZEN"),
               "cgroup v2": (("-t", "cgroup2"), "cgroup.freeze", "1", "0", "cgroup.events", "frozen 1")}
KINDS = (*HIERARCHIES, "stop signal")
# What the host has already comes first.
PREFERRED = sorted(KINDS, key=lambda kind: kind != "cgroup v2") if os.path.exists("/sys/fs/cgroup/cgroup.controllers") else KINDS


class Freezer:
    """`with Freezer(world) as freezer:`; kind is "" where this kernel has not the kind asked for."""

    def __init__(self, world, kind=None):
        self.name, self.wanted, self.kind, self.mount, self.pid = world.root.name, kind, "", None, None

    def __enter__(self):
        for kind in (self.wanted,) if self.wanted else PREFERRED:
            if kind not in HIERARCHIES or self.make(kind):
                self.kind = kind
                break
        return self

    def make(self, kind):
        # Not below the world's folder, which is removed with all that it holds.
        self.mount = pathlib.Path(tempfile.mkdtemp(prefix="seccompress-freezer."))
        options, self.switch, self.freeze, self.thaw, self.event, self.frozen = HIERARCHIES[kind]
        done = subprocess.run(["mount", *options, "freezer", self.mount], capture_output=True)
        if done.returncode == 0:
            self.group = self.mount / self.name
            with contextlib.suppress(OSError):
                self.group.mkdir()
                if (self.group / self.switch).exists():
                    return True
                self.group.rmdir()
            subprocess.run(["umount", self.mount], check=True)
        self.mount.rmdir()
        self.mount = None
        return False

    def is_frozen(self):
        return self.frozen in (self.group / self.event).read_text().splitlines()

    def hold(self, pid):
        """From here on it does not run, though it is told to."""
        self.pid = pid
        if self.mount is None:
            return
        (self.group / "cgroup.procs").write_text(str(pid))
        (self.group / self.switch).write_text(self.freeze)
        wait_for(self.is_frozen, "the freezing")
        os.kill(pid, signal.SIGCONT)
        expect(self.is_frozen(), "SIGCONT thawed it")

    def release(self):
        if self.pid is None:
            return
        if self.mount is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGCONT)
        else:
            (self.group / self.switch).write_text(self.thaw)
        self.pid = None

    def __exit__(self, *exception):
        self.release()
        if self.mount is None:
            return
        if exception[0] is None:
            wait_for(lambda: not (self.group / "cgroup.procs").read_text().strip(), "the empty freezer")
        with contextlib.suppress(OSError):
            self.group.rmdir()
        subprocess.run(["umount", "-l", self.mount], check=True)
        self.mount.rmdir()
