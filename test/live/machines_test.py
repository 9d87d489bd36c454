#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hook and `seccompress run` on the machines that this kernel can pretend to be: cgroup v1, v2, both at once, and
user namespaces of root and of an ordinary user. One line a case, then a count. A container must get the same filter and
the same answers everywhere; in an ordinary user's namespace only where the layers are his own, or in root's places
(rootless_test.py). Each machine is a mount namespace of its own; what this kernel lacks is skipped with the reason.
"""
import argparse
import contextlib
import itertools
import os
import shutil
import subprocess
import sys

import containers
from containers import DEADLINE, expect, filter_count

# Shell commands that turn a fresh mount namespace into the machine; a failing one is the reason to skip.
V1 = 'test -d /sys/fs/cgroup/memory; if mountpoint -q /sys/fs/cgroup/unified; then umount /sys/fs/cgroup/unified; fi'
V2 = 'umount -R /sys/fs/cgroup; mount -t cgroup2 cgroup2 /sys/fs/cgroup'
HYBRID = 'mountpoint -q /sys/fs/cgroup/unified; test -d /sys/fs/cgroup/memory'
CGROUPS = {'cgroup v1': V1, 'cgroup v2': V2, 'cgroup v1 and v2': HYBRID}
USER = 1000
NAMESPACE = ['unshare', '--user', '--map-root-user', '--mount']
ORDINARY = ['setpriv', f'--reuid={USER}', f'--regid={USER}', '--clear-groups', *NAMESPACE]
# A manager that needs no cgroup: an ordinary user has none to write to.
ROOTLESS = {'runc': ['--rootless=true'], 'crun': ['--cgroup-manager=disabled']}
MARKERS = {'umask': 97, 'sethostname': 96, 'acct': 95, 'uname': 99, 'personality': 98}
INHERITED = filter_count('self')


def on(setup, *command):
    """The command on the machine that `setup` makes."""
    return ['unshare', '--mount', '--propagation', 'private', 'sh', '-ec', f'{setup}; exec "$@"', 'sh', *map(str, command)]


def lacking(setup):
    done = subprocess.run(on(setup, 'true'), capture_output=True, text=True, timeout=DEADLINE)
    return '' if done.returncode == 0 else f'this kernel or host has no such machine: {done.stderr.strip() or setup}'


class Container:
    """A bundle and a root file system that `user` may write to, run to its end."""

    def __init__(self, world, runtime, nnp, user=0):
        config = world.config(nnp)
        self.folder = world.bundle({})
        self.hook_error = self.folder / 'hook.err'
        config['annotations'] = {'run.oci.hooks.stderr': str(self.hook_error)}
        # Not the world's: device nodes that root's runtimes made there would be in the way.
        config['root']['path'] = str(self.folder / 'rootfs')
        for name in ('proc', 'dev', 'sys', 'tmp', 'etc'):
            (self.folder / 'rootfs' / name).mkdir(parents=True)
        shutil.copytree(world.rootfs / 'bin', self.folder / 'rootfs/bin')
        (self.folder / 'config.json').write_text(containers.json.dumps(config))
        state = self.folder / 'state'
        state.mkdir()
        subprocess.run(['chown', '-R', f'{user}:{user}', self.folder], check=True)
        self.command = [runtime, '--root', state, 'run', '--bundle', self.folder, f'scm-{os.getpid()}-{world.serial}']

    def run(self, setup, prefix=(), options=()):
        command = [*prefix, self.command[0], *options, *self.command[1:]]
        done = subprocess.run(on(setup, *command), capture_output=True, text=True, timeout=2 * DEADLINE, stdin=subprocess.DEVNULL)
        error = self.hook_error.read_text() if self.hook_error.exists() else ''
        return done.returncode, done.stdout, done.stderr + error


def expect_merged(code, output, error):
    expect(code == 0, f'exit code {code}: {error}')
    facts = {words[0]: int(words[-1]) for words in map(str.split, output.splitlines()) if len(words) > 1}
    expect(facts.get('Seccomp_filters') == INHERITED + 1, f'Seccomp_filters is {facts.get("Seccomp_filters")}')
    for call, errno in MARKERS.items():
        expect(facts.get(call) == errno, f'{call} gave {facts.get(call)}, not {errno}')


def hook_on_cgroups(machine, runtime, nnp, world):
    reason = lacking(CGROUPS[machine])
    if reason:
        return reason
    code, output, error = Container(world, runtime, nnp).run(CGROUPS[machine])
    if machine == 'cgroup v1 and v2' and runtime == 'crun' and 'cgroups in hybrid mode not supported' in error:
        return 'crun itself refuses it: cgroups in hybrid mode not supported'
    expect_merged(code, output, error)


def hook_in_a_user_namespace_of_root(runtime, nnp, world):
    reason = lacking(V1) or lacking('unshare --user --map-root-user true')
    if reason:
        return reason
    expect_merged(*Container(world, runtime, nnp).run(V1, NAMESPACE, ROOTLESS[runtime]))


@contextlib.contextmanager
def owned_by_user(world):
    """Configuration, layers and log."""
    paths = [world.root, world.settings_path.parent, *world.settings_path.parent.iterdir(), world.layers, *world.layers.rglob('*')]
    for path in paths:
        os.chown(path, USER, USER)
    try:
        yield
    finally:
        for path in paths:
            os.chown(path, 0, 0)


def hook_in_a_user_namespace_of_an_ordinary_user(runtime, nnp, world):
    reason = lacking(V1) or lacking(' '.join([*ORDINARY, 'true']))
    if reason:
        return reason
    if not nnp:
        code, output, error = Container(world, runtime, nnp, USER).run(V1, ORDINARY, ROOTLESS[runtime])
        expect(code != 0 and output == '', f'exit code {code}, output {output!r}')
        for words in (f'{world.root}: owned by user 65534, not by root', 'this user namespace cannot tell who that is'):
            expect(words in error, f'"{words}" is not in {error!r}')
    with owned_by_user(world):
        expect_merged(*Container(world, runtime, nnp, USER).run(V1, ORDINARY, ROOTLESS[runtime]))


def run_on(machine, world):
    """The same layers for a command of ours, cgroups or not."""
    namespaces = {'user namespace of root': NAMESPACE, 'user namespace of an ordinary user': ORDINARY}
    setup, prefix = CGROUPS.get(machine, V1), namespaces.get(machine, [])
    reason = lacking(setup) or lacking(' '.join([*prefix, 'true']))
    if reason:
        return reason
    profile = world.layers / 'profile.json'
    profile.write_text(containers.json.dumps(containers.PROFILE))
    command = [*prefix, world.tools['cli'], 'run', '-q', *world.default_layers, profile, '--', world.tools['probe']]
    done = subprocess.run(on(setup, *command), capture_output=True, text=True, timeout=DEADLINE)
    expect_merged(done.returncode, done.stdout, done.stderr)


def cases():
    runtimes = list(itertools.product(('runc', 'crun'), (False, True)))
    label = lambda runtime, nnp: f'{runtime} NNP={nnp:d}'
    for machine in CGROUPS:
        for r in runtimes:
            yield f'hook on {machine} [{label(*r)}]', lambda world, m=machine, r=r: hook_on_cgroups(m, *r, world)
    for function in (hook_in_a_user_namespace_of_root, hook_in_a_user_namespace_of_an_ordinary_user):
        for r in runtimes:
            yield f'{function.__name__.replace("_", " ")} [{label(*r)}]', lambda world, f=function, r=r: f(*r, world)
    for machine in [*CGROUPS, 'user namespace of root', 'user namespace of an ordinary user']:
        yield f'run on {machine}', lambda world, m=machine: run_on(m, world)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--only', default='')
    for option in ('--hook', '--probe', '--cli'):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    containers.skip_unless_possible()
    with containers.World(options) as world:
        return containers.run_cases(list(cases()), world, options.only)


if __name__ == '__main__':
    sys.exit(main())
