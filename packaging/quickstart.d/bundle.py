# SPDX-License-Identifier: Apache-2.0
"""Writes a bundle's config.json to stdout: bundle.py PROFILE ROOTFS HOOK HOOK_CONFIG (HOOK may be empty).

PROFILE is in moby's format; what runtimes take is its resolution for this machine and the container's capabilities.
"""
import json
import os
import sys

CAPS = ['CAP_AUDIT_WRITE', 'CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_FSETID', 'CAP_KILL', 'CAP_MKNOD',
        'CAP_NET_BIND_SERVICE', 'CAP_NET_RAW', 'CAP_SETFCAP', 'CAP_SETGID', 'CAP_SETPCAP', 'CAP_SETUID', 'CAP_SYS_CHROOT']
SCRIPT = ('b=/bin/busybox; $b grep Seccomp_filters /proc/self/status; /bin/probe; echo waiting; read line')


def applies(entry):
    """moby's includes and excludes: all included capabilities present, no excluded one, kernel new enough."""
    kernel = tuple(int(n) for n in os.uname().release.split('-')[0].split('.')[:2])
    included, excluded = entry.get('includes') or {}, entry.get('excludes') or {}
    if not set(included.get('caps') or []) <= set(CAPS) or set(excluded.get('caps') or []) & set(CAPS):
        return False
    if included.get('arches') and 'amd64' not in included['arches'] or 'amd64' in (excluded.get('arches') or []):
        return False
    return tuple(int(n) for n in included.get('minKernel', '0.0').split('.')) <= kernel


def resolve(profile):
    seccomp = {key: profile[key] for key in ('defaultAction', 'defaultErrnoRet', 'architectures', 'flags') if key in profile}
    for mapping in profile.get('archMap', []):
        if mapping['architecture'] == 'SCMP_ARCH_X86_64':
            seccomp['architectures'] = [mapping['architecture']] + (mapping.get('subArchitectures') or [])
    seccomp['syscalls'] = [{key: entry[key] for key in ('names', 'action', 'errnoRet', 'args') if entry.get(key)}
                           for entry in profile['syscalls'] if applies(entry)]
    return seccomp


def config(profile, rootfs, hook, hook_config):
    spec = {
        'ociVersion': '1.0.2',
        'process': {
            'terminal': False, 'cwd': '/', 'noNewPrivileges': True, 'user': {'uid': 0, 'gid': 0},
            'args': ['/bin/busybox', 'sh', '-c', SCRIPT], 'env': ['PATH=/bin'],
            'capabilities': {kind: CAPS for kind in ('bounding', 'effective', 'permitted')},
        },
        'root': {'path': rootfs},
        'mounts': [{'destination': '/proc', 'type': 'proc', 'source': 'proc'},
                   {'destination': '/dev', 'type': 'tmpfs', 'source': 'tmpfs', 'options': ['nosuid', 'mode=755']}],
        'linux': {'namespaces': [{'type': kind} for kind in ('pid', 'network', 'ipc', 'uts', 'mount')],
                  'seccomp': resolve(profile)},
    }
    if hook:
        spec['hooks'] = {'createRuntime': [{'path': hook, 'args': [hook, '--config', hook_config]}]}
    return spec


json.dump(config(json.load(open(sys.argv[1])), *sys.argv[2:5]), sys.stdout, indent=1)
