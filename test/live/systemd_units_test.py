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

from systemd_units import DIRECTIVES, LOOKUP_FILES, LOOKUP_LINKS, LOOKUP_NAMES, REFUSED, STRICTER, UNITS, random_units

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

    def inside(self, *command):
        """A command in systemd's own namespaces; what it prints."""
        children = pathlib.Path(f'/proc/{self.process.pid}/task/{self.process.pid}/children').read_text().split()
        done = subprocess.run(['nsenter', '--target', children[0], '--mount', '--pid', *map(str, command)],
                              capture_output=True, text=True, timeout=DEADLINE)
        if done.returncode != 0:
            sys.exit(f'{command}: {done.stderr}')
        return done.stdout

    def show(self, names, *properties):
        """What systemd says about each unit: {property: value}."""
        text = self.inside('systemctl', 'show', '--property=' + ','.join(properties), '--', *names)
        blocks = [dict(line.split('=', 1) for line in block.splitlines()) for block in text.split('\n\n')]
        assert len(blocks) == len(names), f'{len(blocks)} answers for {len(names)} units'
        return dict(zip(names, blocks))

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
        how = 'refused:' + refused[name][1] if name in refused else f'stricter:{STRICTER[name][0]}:{pids[name]}' if name in STRICTER else pids[name]
        arguments += [str(units.path(name)), how]
    return subprocess.run([program, *arguments]).returncode == 0


def reasons_agree(boot):
    """Units are refused for the reason that this test names, not for another one."""
    said = boot.show([f'{name}.service' for name in REFUSED], 'LoadState', 'ExecMainStatus')
    wrong = [f'FAIL {name}: systemd says {said[f"{name}.service"]}, not {reason}' for name, (reason, _, _) in REFUSED.items()
             if dict([reason.split('=')]).items() - said[f'{name}.service'].items()]
    print('\n'.join(wrong) or f'systemd gives the expected reason for each of {len(REFUSED)} units')
    return not wrong


def every_directive_is_covered():
    bodies = [text for body, drop_ins in UNITS.values() for text in [body.decode(errors='replace'), *drop_ins.values()]]
    lines = {line.split('=')[0].strip() for body in bodies for line in body.splitlines() if '=' in line}
    missing = [name for name in DIRECTIVES if name not in lines]
    print(f'FAIL no unit assigns {missing}' if missing else f'{len(DIRECTIVES)} directives covered')
    return not missing


def search_agrees(boot, program):
    """Which files is a unit? Ours against systemd's, for made-up units in three folders and for all of this host's."""
    text = {True: '[Service]', False: '[Service]\\nExecStart=/bin/true'}  # a second ExecStart= would not load
    script = ''.join(f'mkdir -p {os.path.dirname(path)}; echo "{text[".d/" in path]}" >{path};' for path in LOOKUP_FILES)
    script += ''.join(f'ln -s {target} {path};' for path, target in LOOKUP_LINKS.items())
    boot.inside('sh', '-ec', f'cd /run/systemd; {script} systemctl daemon-reload')
    names = [f'{name}.service' for name in LOOKUP_NAMES]
    names += sorted(path.name for path in pathlib.Path('/lib/systemd/system').glob('*.service') if '@.' not in path.name)
    theirs = boot.show(names, 'Id', 'LoadState', 'FragmentPath', 'DropInPaths')
    wrong, compared = [], 0
    for line in boot.inside(os.path.abspath(program), 'find', *names).splitlines():
        name, _, ours = line.partition(': ')
        unit = theirs[name]
        # Ours are without links: of a folder, of a unit that is linked; and a masked drop-in is none.
        links = {f'/run/systemd/{path}': target for path, target in LOOKUP_LINKS.items() if target.startswith('/')}
        paths = [links.get(path, os.path.realpath(path) if path.startswith(('/lib/', '/usr/')) else path)
                 for path in [unit['FragmentPath'], *unit['DropInPaths'].split()]]
        paths = [path for path in paths if path != '/dev/null']
        expected = ' '.join([unit['Id'], *paths]) if unit['LoadState'] == 'loaded' else unit['LoadState']
        compared += unit['LoadState'] == 'loaded'
        if ours != expected and not (expected == 'masked' and 'is masked by' in ours):
            wrong.append(f'FAIL {name}: found {ours}, systemd has {expected}')
    print('\n'.join(wrong) or f'the files of {compared} units are the ones that systemd names')
    return not wrong and compared > len(LOOKUP_NAMES)


def main():
    parser = argparse.ArgumentParser()
    for option in ('--waiter', '--compare', '--init'):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    check_machine()
    seed = int(os.environ.get('SEED', '20261130'))
    print(f'SEED={seed}', flush=True)
    refused = {name: body for name, (_, _, body) in REFUSED.items()}
    stricter = {name: body for name, (_, body) in STRICTER.items()}
    everything = {**UNITS, **refused, **stricter, **random_units(random.Random(seed), 24)}
    with tempfile.TemporaryDirectory(prefix='seccompress-units-', dir='/var/lib') as name:  # /tmp is private to some units
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        units = Units(folder, options.waiter)
        for unit, (body, drop_ins) in everything.items():
            units.add(unit, body, drop_ins)
        boot = Boot(folder, options.init, units)
        try:
            boot.wait()
            good = all([every_directive_is_covered(), compare(units, units.pids(), REFUSED, options.compare),
                        reasons_agree(boot), search_agrees(boot, options.compare)])
        finally:
            boot.close()
    print(f'{len(everything)} units, {len(REFUSED)} of them refused')
    return 0 if good and len(everything) >= 60 else 1


if __name__ == '__main__':
    sys.exit(main())
