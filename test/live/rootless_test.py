#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The hook in the hands of an ordinary user: runc and crun in user namespaces of his, and podman where it is installed.

What every case holds: the container runs under the whole stack or not at all; what another user could have written
decides nothing. The machine is a mount namespace of its own: /etc is a copy, /home and /tmp are fresh.
"""
import argparse
import contextlib
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys

import containers
from containers import DEADLINE, PROFILE, bpf, errno_verdict, expect, wait_for
from hook_test import INHERITED, expect_merged, expect_ready, expect_record, expect_refused, unconfined

CASES = []
RUNTIMES = ('runc', 'crun')
OWNER, OTHER, SUBORDINATE = 1000, 1001, 100000
AS_OWNER = ['setpriv', f'--reuid={OWNER}', f'--regid={OWNER}', '--clear-groups']
# A manager that needs no cgroup: an ordinary user has none to write to.
OPTIONS = {'runc': ['--rootless=true'], 'crun': ['--cgroup-manager=disabled']}
UNCONFINED = {'umask': 97, 'uname': 0}
MAPPINGS = ('one number', 'subordinate numbers')
OF_ROOT = 'of root'
UMASK = bpf(('umask', errno_verdict(97)))
UNKNOWN = 'this user namespace cannot tell who that is'


def each(*axes):
    def register(function):
        for values in itertools.product(*axes):
            label = ' '.join(f'NNP={v:d}' if isinstance(v, bool) else str(v) for v in values)
            name = function.__name__.replace('_', ' ') + (f' [{label}]' if label else '')
            CASES.append((name, lambda world, v=values: function(*v, world)))
        return function
    return register


class Namespace:
    """A user namespace of the owner with root's maps: the numbers that a container may have, as /etc/subuid gives them."""

    def __init__(self):
        self.holder = subprocess.Popen([*AS_OWNER, 'unshare', '--user', 'cat'], stdin=subprocess.PIPE)
        ours = os.readlink('/proc/self/ns/user')
        wait_for(lambda: os.readlink(f'/proc/{self.holder.pid}/ns/user') != ours, 'the user namespace')
        for name in ('uid_map', 'gid_map'):
            pathlib.Path(f'/proc/{self.holder.pid}/{name}').write_text(f'0 {OWNER} 1\n1 {SUBORDINATE} 65536\n')
        self.enter = ['nsenter', f'--target={self.holder.pid}', '--user', '--setuid=0', '--setgid=0', 'unshare', '--mount']

    def close(self):
        self.holder.communicate()


class World(containers.World):
    """Configuration and layers are root's, in /etc/seccompress; bundles, state and log the owner's, in his home."""

    def __init__(self, arguments):
        super().__init__(arguments)
        self.make_machine()
        self.home, self.other = pathlib.Path('/home/owner'), pathlib.Path('/home/other')
        self.folder, self.root = self.root, self.home
        for home, user in ((self.home, OWNER), (self.other, OTHER)):
            home.mkdir()
            os.chown(home, user, user)
        self.rootfs = pathlib.Path(shutil.copytree(self.rootfs, self.home / 'rootfs'))
        subprocess.run(['chown', '-R', f'{OWNER}:{OWNER}', self.rootfs], check=True)
        self.layers = pathlib.Path('/etc/seccompress/layers')
        self.layers.mkdir(parents=True)
        self.settings_path = self.layers.parent / 'config.yaml'
        self.log = self.home / f'log-{os.getpid()}'  # makes the tracer's mark ours
        self.write_default_settings()
        self.namespace = Namespace()
        self.prefixes = {'one number': [*AS_OWNER, 'unshare', '--user', '--map-root-user', '--mount'],
                         'subordinate numbers': self.namespace.enter, 'none': AS_OWNER,
                         'without mounts': [*AS_OWNER, 'unshare', '--user', '--map-root-user'],
                         OF_ROOT: ['unshare', '--user', '--map-root-user', '--mount']}
        self.kind = MAPPINGS[0]

    def make_machine(self):
        shutil.copytree('/etc', self.root / 'etc-of-machine', symlinks=True)
        subprocess.run(['mount', '--bind', self.root / 'etc-of-machine', '/etc'], check=True)
        for folder, mode in (('/home', '755'), ('/tmp', '1777')):
            subprocess.run(['mount', '-t', 'tmpfs', '-o', f'mode={mode}', 'tmpfs', folder], check=True)

    def command(self, runtime):
        state = (self.folder if self.kind == OF_ROOT else self.home) / f'state-{runtime}'
        return [*self.prefixes[self.kind], runtime, *OPTIONS[runtime], '--root', str(state)]

    def bundle(self, config):
        folder = super().bundle(config)
        if self.kind != OF_ROOT:
            subprocess.run(['chown', '-R', f'{OWNER}:{OWNER}', folder], check=True)
        return folder

    def start(self, runtime, config, verb='run', third=None):
        error = self.home / f'bundle{self.serial + 1}' / 'hook.err'
        return super().start(runtime, dict(config, annotations={'run.oci.hooks.stderr': str(error)}), verb, third)

    def owned(self, path, data, user=OWNER, mode=0o644):
        path.write_bytes(data)
        os.chown(path, user, user)
        path.chmod(mode)
        return path

    def hook_with(self, settings):
        return {'path': str(self.tools['hook']), 'args': ['seccompress-hook', '--config', str(settings)]}

    def run_in(self, kind, runtime, config):
        self.kind = kind
        return self.run(runtime, config)

    def clean_after_case(self):
        super().clean_after_case()
        self.kind = MAPPINGS[0]
        for folder in (pathlib.Path('/tmp'), self.other, pathlib.Path('/etc/seccompress')):
            for path in folder.iterdir():
                if path not in (self.layers, self.settings_path):
                    shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def __exit__(self, *exception):
        self.namespace.close()
        for folder in ('/tmp', '/home', '/etc'):
            subprocess.run(['umount', '--lazy', folder], check=True)
        self.root = self.folder
        super().__exit__(*exception)


def installed(world, start, route, markers=None, layers=3):
    expect_ready(start)
    expect_merged(start, markers) if markers else expect_merged(start)
    record = expect_record(world, 'installed')
    expect(record['route'] == route, f'route {record["route"]}: {record["notes"]}')
    expect([layer['filters'] for layer in record['layers']] == [2, 1, 1][:layers], f'layers: {record["layers"]}')
    return record


def live_filter_is(world, start, *layers):
    """As real root sees it: the kernel does not show filters to the user."""
    equal = world.check_live('equal', start.init_pid(), INHERITED, *layers)
    expect(equal.returncode == 0, 'the live filter is not the stack: ' + equal.stderr)


# ---- the runtime inside of the user's namespace ------------------------------------------------------------------
@each(RUNTIMES, (False, True))
def with_a_profile(runtime, nnp, world):
    start = world.run_in(MAPPINGS[nnp], runtime, world.config(nnp))
    record = installed(world, start, 'ptrace-hook')
    expect(record['bytes_compared'] is False and record['notes'] == [], f'record: {record}')


@each(RUNTIMES, (False, True))
def without_a_profile(runtime, nnp, world):
    world.kind = MAPPINGS[not nnp]
    start = world.start(runtime, unconfined(world, nnp)).read_until('ready')
    installed(world, start, 'ptrace-hook', UNCONFINED, 2)
    live_filter_is(world, start, *world.default_layers)


@each(MAPPINGS, ('createContainer alone', 'both'))
def crun_rewrites_its_file(mapping, registered, world):
    world.settings_path.write_text(world.settings(world.default_layers).replace('exec: accept\n', ''))
    world.kind = mapping
    nnp, stages = mapping == MAPPINGS[0], {'createContainer': [world.hook()]}
    if registered == 'both':
        stages['createRuntime'] = [world.hook()]
    start = world.start('crun', world.config(nnp, stages=stages, arguments=('/bin/probe', 'wait'))).read_until('ready')
    installed(world, start, 'create-container')
    expect(len(world.records()) == 1, f'{len(world.records())} records')
    live_filter_is(world, start, *world.default_layers, f'bpf:{world.home}/state-crun/{start.container}/seccomp.bpf')
    status = [*world.prefixes[mapping], world.tools['cli'], 'status', '--config', world.settings_path]
    shown = subprocess.run(status, capture_output=True, text=True, timeout=DEADLINE)
    expect(shown.returncode == 0 and 'up to date' in shown.stdout, f'status: {shown}')


def user_namespace(config, number):
    """The container has one of its own, with one number, as `runc spec --rootless` writes it."""
    config['linux']['namespaces'].append({'type': 'user'})
    for kind in ('uidMappings', 'gidMappings'):
        config['linux'][kind] = [{'containerID': 0, 'hostID': number, 'size': 1}]
    return config


@each(RUNTIMES)
def a_container_with_a_user_namespace_inside_of_the_users(runtime, world):
    stages = {'createRuntime': [world.hook()], 'createContainer': [world.hook()]}
    start = world.run_in(MAPPINGS[0], runtime, user_namespace(world.config(True, stages=stages), 0))
    installed(world, start, 'ptrace-hook')


@each()
def crun_that_runs_a_copy_of_itself_in_memory(world):
    """Where it may not mount: the name of its init is another one then."""
    installed(world, world.run_in('without mounts', 'crun', world.config(True)), 'ptrace-hook')


# ---- the runtime outside: the kernel does not allow it -----------------------------------------------------------
@each(RUNTIMES, ("root's settings", "the user's settings"))
def a_user_namespace_that_the_runtime_makes_is_refused(runtime, settings, world):
    stages = {'createRuntime': [world.hook()], 'createContainer': [world.hook()]}
    config = world.config(True, PROFILE if settings == "root's settings" else None, stages)
    if settings != "root's settings":
        config['hooks'] = {'createRuntime': [world.hook_with(world.owned(world.home / 'config.yaml', world.settings_path.read_bytes()))]}
    start = world.run_in('none', runtime, user_namespace(config, OWNER))
    expect_refused(start, 'the kernel does not let this hook trace the container: it runs as an ordinary user, outside the user '
                   'namespace that the container has for itself; start the runtime inside a user namespace')


# ---- what others could have written (file by file: test/unit/bundle/ownership_test.cc) ---------------------------
def layer_refused(world, path, *words, kind=MAPPINGS[0]):
    world.settings([f'bpf:{path}'])
    expect_refused(world.run_in(kind, 'crun', world.config(True)), *words)


@each(MAPPINGS)
def another_users_layer_is_refused(mapping, world):
    theirs = world.owned(world.other / 'x.bpf', UMASK, OTHER)
    layer_refused(world, theirs, f'{world.other}: owned by user 65534, not by root', UNKNOWN, kind=mapping)
    in_home = world.owned(world.home / 'x.bpf', UMASK, OTHER)
    layer_refused(world, in_home, f'{in_home}: owned by user 65534, not by root', UNKNOWN, kind=mapping)


@each()
def a_configuration_that_others_wrote_is_refused(world):
    for path in (world.other / 'config.yaml', pathlib.Path('/tmp/config.yaml')):
        settings = world.owned(path, world.settings_path.read_bytes(), OTHER)
        config = world.config(True, stages={'createRuntime': [world.hook_with(settings)]})
        expect_refused(world.run('crun', config), f'{path.parent}: owned by user 65534, not by root', UNKNOWN)


@each()
def the_containers_user_whose_number_stands_for_unknown_users_is_refused(world):
    mine = world.owned(world.layers / 'x.bpf', UMASK, SUBORDINATE + 65533)
    layer_refused(world, mine, f'{mine}: owned by user 65534, not by root', kind=MAPPINGS[1])


@each()
def what_the_group_can_write_and_links_are_refused(world):
    mine = world.owned(world.layers / 'x.bpf', UMASK, 0, 0o664)
    layer_refused(world, mine, f'{mine}: writable by group or others')
    folder = world.layers.parent / 'folder'
    folder.symlink_to(world.owned(world.other / 'x.bpf', UMASK, OTHER).parent)
    layer_refused(world, folder / 'x.bpf', f'{folder}: is a symbolic link')


@each()
def a_namespace_of_roots_trusts_root_alone(world):
    layer = world.owned(world.layers / 'x.bpf', UMASK, 0)
    world.settings_path.write_text(world.settings([f'bpf:{layer}']).replace(str(world.log), '/etc/seccompress/log'))
    config = world.config(True)
    config['root']['path'] = str(world.folder / 'rootfs')  # root's
    expect_merged(world.run_in(OF_ROOT, 'crun', config), {'umask': 97, 'uname': 99})
    os.chown(layer, OTHER, OTHER)
    expect_refused(world.run_in(OF_ROOT, 'crun', config), f'{layer}: owned by user 65534, not by root\n')


@each()
def roots_receipts_are_none_of_the_users_who_may_have_his_own(world):
    roots, own = world.settings_path.parent / 'receipts', world.home / 'receipts'
    roots.mkdir(0o700)
    prepare = [world.tools['cli'], 'prepare', '--config', world.settings_path, '--receipts', own]
    done = subprocess.run([*world.prefixes[world.kind], *prepare], capture_output=True, text=True, timeout=DEADLINE)
    expect(done.returncode == 0, f'prepare: {done}')
    for folder, prepared in (roots, False), (own, True):
        world.log.unlink(missing_ok=True)
        expect_merged(world.run('crun', world.config(True, stages={'createRuntime': [world.hook('hook', '--receipts', folder)]})))
        record = expect_record(world, 'installed')
        expect(record['prepared'] is prepared and record['notes'] == [], f'record: {record}')


@each()
def the_users_own_layers_a_unit_and_roots_log(world):
    mine = world.owned(world.home / 'x.bpf', UMASK)
    units = pathlib.Path('/etc/systemd/system')
    units.mkdir(parents=True, exist_ok=True)
    world.owned(units / 'seccompress-test.service', b'[Service]\nSystemCallFilter=~acct\nSystemCallErrorNumber=95\n', 0)
    text = world.settings([f'bpf:{mine}', 'unit:seccompress-test']).replace(str(world.log), '/etc/seccompress/log')
    world.settings_path.write_text(text)
    expect_merged(world.run('crun', world.config(True)), {'umask': 97, 'acct': 95, 'uname': 99})
    expect(not pathlib.Path('/etc/seccompress/log').exists(), "the user wrote root's log")


@each(('root', 'another user'))
def disabled_counts_when_root_wrote_it(writer, world):
    if writer == 'root':
        world.owned(world.settings_path.parent / 'disabled', b'', 0)
        expect_merged(world.run('crun', world.config(True)), {'umask': 0, 'uname': 99})
        expect_record(world, 'disabled')
        return
    settings = world.owned(world.home / 'config.yaml', world.settings_path.read_bytes())
    disabled = world.owned(world.home / 'disabled', b'', OTHER)
    config = world.config(True, stages={'createRuntime': [world.hook_with(settings)]})
    expect_refused(world.run('crun', config), f'{disabled}: owned by user 65534', UNKNOWN)
    disabled.unlink()


# ---- podman ------------------------------------------------------------------------------------------------------
class Podman:
    """Of the owner: it makes its own user namespace, of the numbers that /etc/subuid gives him."""

    def __init__(self, world, runtime):
        self.world, self.runtime = world, shutil.which(runtime)
        for name in ('/etc/subuid', '/etc/subgid'):
            pathlib.Path(name).write_text(f'{OWNER}:{SUBORDINATE}:65536\n')
        self.runtime_folder = pathlib.Path('/run/user') / str(OWNER)
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'mode=755', 'tmpfs', '/run/user'], check=True)
        self.runtime_folder.mkdir(0o700)
        os.chown(self.runtime_folder, OWNER, OWNER)
        hooks = world.settings_path.parent / 'hooks.d'
        hooks.mkdir()
        (hooks / 'seccompress.json').write_text(json.dumps(
            {'version': '1.0.0', 'hook': world.hook(), 'when': {'always': True}, 'stages': ['createRuntime', 'createContainer']}))
        self.options = ['--runtime', self.runtime, '--hooks-dir', hooks, '--storage-driver=vfs', '--cgroup-manager=cgroupfs',
                        '--events-backend=file']
        image = world.home / 'image.tar'
        subprocess.run(['tar', '-C', world.folder / 'rootfs', '-cf', image, '.'], check=True)
        self(['import', image, 'probe'])

    def __call__(self, arguments):
        environment = [f'HOME={self.world.home}', f'XDG_RUNTIME_DIR={self.runtime_folder}', f'PATH={os.environ["PATH"]}']
        done = subprocess.run([*AS_OWNER, 'env', '-i', *environment, 'podman', *self.options, *arguments], cwd=self.world.home,
                              capture_output=True, text=True, timeout=4 * DEADLINE)
        expect(done.returncode == 0, f'podman {arguments[0]}: {done.stderr}')
        return done.stdout

    def run(self, *options):
        """The container's output and, while it waits, an exec session's."""
        # Nobody here may raise the limits that podman takes from root; podman refuses runc without cgroups.
        limits = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1000:1000', *(['--cgroups=disabled'] * self.runtime.endswith('crun'))]
        self(['run', '--detach', '--name=one', '--network=none', *limits, *options, 'probe', '/bin/probe', 'wait'])
        session = self(['exec', 'one', '/bin/probe'])
        wait_for(lambda: 'ready' in self(['logs', 'one']), "the container's output")
        output = self(['logs', 'one'])
        self(['rm', '--force', '--time=0', 'one'])
        return output, session

    def close(self):
        for arguments in (['rm', '--force', '--time=0', '--ignore', 'one'], ['system', 'migrate']):  # the latter ends its namespace
            self(arguments)
        subprocess.run(['umount', '--lazy', '/run/user'], check=True)


def facts(output):
    return {words[0]: int(words[-1]) for words in map(str.split, output.splitlines()) if len(words) > 1}


@each(RUNTIMES)
def podman(runtime, world):
    missing = [name for name in ('podman', 'conmon', 'newuidmap') if shutil.which(name) is None]
    if missing:
        return 'not installed: ' + ' '.join(missing)
    with contextlib.closing(Podman(world, runtime)) as engine:
        for option, rewritten in ((), runtime == 'crun'), (['--security-opt=seccomp=unconfined'], False), (['--userns=auto'], False):
            world.log.unlink(missing_ok=True)
            container, session = map(facts, engine.run(*option))
            expect(container['Seccomp_filters'] == INHERITED + 1 and container['umask'] == 97, f'the container: {option} {container}')
            expect(session['umask'] == (97 if rewritten else 0), f'the exec session: {option} {session}')
            record = expect_record(world, 'installed')
            route = 'create-container' if rewritten else 'ptrace-hook'
            expect(record['route'] == route, f'{option}: route {record["route"]}: {record["notes"]}')
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--only', default='')
    for option in ('--hook', '--probe', '--cli', '--check-live'):
        parser.add_argument(option, required=True)
    options = parser.parse_args()
    containers.skip_unless_possible()
    containers.enter_private_mounts()
    with World(options) as world:
        return containers.run_cases(CASES, world, options.only)


if __name__ == '__main__':
    sys.exit(main())
