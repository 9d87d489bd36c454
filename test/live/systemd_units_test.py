# SPDX-License-Identifier: Apache-2.0
"""Starts units that cover every directive under a real systemd, all in one boot, and compares what each service's
process got with what the reader makes of the unit's file. Units that systemd refuses must be refused.

Waits for one event: a service that is ordered after all others (Type=exec: their payload runs, so their filters are in
place) writes a line. SEED=N chooses other random units. Exit 77: not root, no systemd 252, or not x86_64.
"""
import argparse
import os
import pathlib
import platform
import random
import select
import shutil
import signal
import subprocess
import sys
import tempfile

from systemd_units import REFUSED, STRICTER, UNITS, random_units

DEADLINE = 60.0
SYSTEMD = '/lib/systemd/systemd'


def skip(reason):
    print(f'skipped: {reason}')
    sys.exit(77)


def check_machine():
    if os.geteuid() != 0:
        skip('needs root')
    if platform.machine() != 'x86_64':
        skip('the units are for x86_64')
    if not os.access(SYSTEMD, os.X_OK):
        skip('no systemd')
    version = subprocess.run([SYSTEMD, '--version'], capture_output=True, text=True).stdout.split()
    if version[1:2] != ['252']:
        skip(f'systemd is {version[1:2]}, not 252')


class Units:
    """Unit files below one folder, a target that starts them all, and the one that reports."""

    def __init__(self, folder, waiter):
        self.folder, self.names = folder / 'units', []
        self.folder.mkdir()
        self.payload = folder / 'waiter'
        shutil.copy(waiter, self.payload)
        self.payload.chmod(0o755)

    def path(self, name):
        return self.folder / f'{name}.service'

    def add(self, name, body, drop_ins):
        head = f'[Unit]\nDefaultDependencies=no\n[Service]\nType=exec\nExecStart=@{self.payload} {name}\n'
        self.path(name).write_bytes(head.encode() + (body if isinstance(body, bytes) else body.encode()) + b'\n')
        for drop_in, text in drop_ins.items():
            file = self.folder / f'{name}.service.d' / drop_in
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
        self.names.append(name)

    def finish(self, fifo):
        services = ' '.join(f'{name}.service' for name in self.names)
        (self.folder / 'all.target').write_text(f'[Unit]\nDefaultDependencies=no\nWants=ready.service {services}\n')
        (self.folder / 'ready.service').write_text(f'[Unit]\nDefaultDependencies=no\nAfter={services}\n[Service]\n'
                                                   f'Type=oneshot\nExecStart=/bin/sh -c "echo > {fifo}"\n')

    def pids(self):
        found = {}
        for process in pathlib.Path('/proc').iterdir():
            if not process.name.isdigit():
                continue
            try:
                if os.readlink(process / 'exe') == str(self.payload):
                    found[(process / 'cmdline').read_bytes().split(b'\0')[0].decode()] = process.name
            except OSError:
                pass
        return found


class Boot:
    """systemd as the first process of its own namespaces; gone, with everything it started, when this is closed."""

    def __init__(self, folder, init, units):
        self.cgroup, self.log = f'seccompress-units.{os.getpid()}', folder / 'log'
        self.fifo = folder / 'ready'
        os.mkfifo(self.fifo)
        self.ready = os.open(self.fifo, os.O_RDWR | os.O_CLOEXEC)
        units.finish(self.fifo)
        with open(self.log, 'wb') as log:
            self.process = subprocess.Popen(
                ['unshare', '--kill-child', '--fork', '--pid', '--mount-proc', '--mount', '--uts', '--ipc', 'sh', init,
                 str(units.folder), self.cgroup, 'all.target'], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.ended = os.pidfd_open(self.process.pid)

    def wait(self):
        readable, _, _ = select.select([self.ready, self.ended], [], [], DEADLINE)
        if self.ready not in readable:
            sys.exit('systemd did not start the units:\n' + self.log.read_text(errors='replace')[-4000:])

    def close(self):
        self.process.send_signal(signal.SIGKILL)  # --kill-child takes systemd along, and systemd its namespace
        self.process.wait()
        for fd in (self.ready, self.ended):
            os.close(fd)
        subprocess.run(['unshare', '--mount', 'sh', '-c',
                        'mount -t tmpfs tmpfs /mnt && mkdir /mnt/c && mount -t cgroup -o none,name=systemd cgroup /mnt/c &&'
                        f' find /mnt/c/{self.cgroup} -depth -type d -exec rmdir {{}} +'], check=False)


def compare(units, pids, refused, program):
    arguments = []
    for name in units.names:
        if name in refused and name in pids:
            print(f'FAIL {name}: systemd started a unit that this test expects it to refuse')
            return False
        if name not in refused and name not in pids:
            print(f'FAIL {name}: systemd did not start it')
            return False
        how = 'refused' if name in refused else f'stricter:{pids[name]}' if name in STRICTER else pids[name]
        arguments += [str(units.path(name)), how]
    return subprocess.run([program, *arguments]).returncode == 0


def main():
    parser = argparse.ArgumentParser()
    for option in ('--waiter', '--compare', '--init'):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    check_machine()
    seed = int(os.environ.get('SEED', '20261130'))
    print(f'SEED={seed}', flush=True)
    everything = {**UNITS, **REFUSED, **STRICTER, **random_units(random.Random(seed), 24)}
    with tempfile.TemporaryDirectory(prefix='seccompress-units-', dir='/var/lib') as name:  # /tmp is private to some units
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        units = Units(folder, options.waiter)
        for unit, (body, drop_ins) in everything.items():
            units.add(unit, body, drop_ins)
        boot = Boot(folder, options.init, units)
        try:
            boot.wait()
            good = compare(units, units.pids(), REFUSED, options.compare)
        finally:
            boot.close()
    print(f'{len(everything)} units, {len(REFUSED)} of them refused')
    return 0 if good and len(everything) >= 60 else 1


if __name__ == '__main__':
    sys.exit(main())
