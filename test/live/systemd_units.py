# SPDX-License-Identifier: Apache-2.0
"""The units of systemd_units_test.py: name -> (text below [Service], {drop-in: text}).

Allow-lists have `write`: with Type=exec the child reports through a pipe, behind the filters.
"""


def unit(*lines, **drop_ins):
    """drop_ins: x10_a='...' is the drop-in 10-a.conf."""
    parts = [line if isinstance(line, bytes) else line.encode() for line in lines]
    return b'\n'.join(parts), {f'{key[1:].replace("_", "-")}.conf': text for key, text in drop_ins.items()}


EPERM = 'SystemCallErrorNumber=EPERM'
SWITCHES = ['ProtectHostname', 'MemoryDenyWriteExecute', 'RestrictRealtime', 'RestrictSUIDSGID', 'ProtectKernelTunables',
            'ProtectKernelModules', 'ProtectKernelLogs', 'ProtectClock', 'PrivateDevices', 'LockPersonality',
            'NoNewPrivileges']

UNITS = {f'alone-{name.lower()}': unit(f'{name}=yes') for name in SWITCHES}
UNITS |= {
    'nothing': unit('# no directive'),
    'everything': unit(*[f'{name}=yes' for name in SWITCHES], 'RestrictNamespaces=yes', 'SystemCallArchitectures=native',
                       'RestrictAddressFamilies=AF_UNIX AF_INET', 'SystemCallFilter=@system-service',
                       'SystemCallFilter=~@privileged @resources', 'SystemCallLog=mount', EPERM),
    'everything-three-arches': unit(*[f'{name}=yes' for name in SWITCHES], 'RestrictNamespaces=yes', EPERM,
                                    'SystemCallFilter=@system-service', 'SystemCallFilter=~@privileged'),
    'dynamic-user': unit('DynamicUser=yes'),
    'dynamic-user-wins': unit('DynamicUser=yes', 'RestrictSUIDSGID=no'),
    'dynamic-user-off': unit('DynamicUser=yes', 'DynamicUser=no'),
    # Truth
    'spellings': unit('PrivateDevices=yes', 'PrivateDevices=', 'RestrictRealtime=TRUE', 'ProtectClock=On',
                      'LockPersonality=maybe', 'ProtectHostname=1', 'ProtectKernelLogs=t', 'ProtectKernelModules=Y'),
    'switched-off': unit('RestrictRealtime=yes', 'RestrictRealtime=no', 'ProtectClock=0', 'LockPersonality=OFF'),
    # SystemCallFilter=
    'allow': unit('SystemCallFilter=write', EPERM),
    'allow-kill': unit('SystemCallFilter=@basic-io @file-system'),
    'allow-minus': unit('SystemCallFilter=@system-service', 'SystemCallFilter=~@mount @chown uname', EPERM),
    'allow-own-errno': unit('SystemCallFilter=@system-service', 'SystemCallFilter=~uname:EILSEQ chmod:kill', EPERM),
    'allow-own-errno-again': unit('SystemCallFilter=@system-service', 'SystemCallFilter=~uname:EILSEQ',
                                  'SystemCallFilter=uname'),
    'allow-own-errno-off': unit('SystemCallFilter=@system-service', 'SystemCallFilter=~uname:EILSEQ', 'SystemCallFilter=~uname'),
    'allow-errno-ignored': unit('SystemCallFilter=write uname:EPERM'),
    'allow-unknown': unit('SystemCallFilter=write nosuchcall @nosuchgroup'),
    'allow-default-removed': unit('SystemCallFilter=write', 'SystemCallFilter=~getpid @timer', EPERM),
    'allow-known': unit('SystemCallFilter=@known', EPERM),
    'allow-network': unit('SystemCallFilter=@basic-io @network-io @ipc', EPERM),
    'deny': unit('SystemCallFilter=~uname', EPERM),
    'deny-kill': unit('SystemCallFilter=~@mount'),
    'deny-nested': unit('SystemCallFilter=~@privileged', EPERM),
    'deny-own-errno': unit('SystemCallFilter=~uname:ENOENT uname:EILSEQ', 'SystemCallErrorNumber=EACCES'),
    'deny-errno-then-plain': unit('SystemCallFilter=~uname:EILSEQ', 'SystemCallFilter=~uname', EPERM),
    'deny-group-errno': unit('SystemCallFilter=~@mount:ENOSYS @swap:kill @clock', EPERM),
    'deny-taken-back': unit('SystemCallFilter=~@mount', 'SystemCallFilter=@mount', EPERM),
    'deny-partly-taken-back': unit('SystemCallFilter=~@mount', 'SystemCallFilter=umount2 mount', EPERM),
    'deny-sense-stays': unit('SystemCallFilter=~', 'SystemCallFilter=uname', 'SystemCallFilter=~chmod', EPERM),
    'deny-multiplexed': unit('SystemCallFilter=~accept socket send semop semtimedop shmat:EACCES msgget recvmmsg', EPERM),
    'deny-32-bit-names': unit('SystemCallFilter=~fstat64 mmap2 sigreturn socketcall ipc _llseek', 'SystemCallErrorNumber=EACCES'),
    'deny-multiplexer-and-call': unit('SystemCallFilter=~socketcall:EACCES socket:ENOENT ipc semop', EPERM),
    'deny-numbers': unit('SystemCallFilter=~123 uname:5 read:0x10 chmod:0 fchmod:4094 mkdir:4096 rmdir:EWOULDBLOCK '
                         'link:ENOTSUP symlink:EDEADLOCK unlink:010 rename: :EPERM statfs:EPERM:EPERM rename:+7 '
                         'renameat:-1 acct:0b11 bind:0o17 chown:\\ 5'),
    'deny-quotes': unit('SystemCallFilter=~"uname" personality chm\\od', EPERM),
    'deny-two-tildes': unit('SystemCallFilter=~ ~uname chmod', EPERM),
    'deny-specifiers': unit('SystemCallFilter=~%n %% uname', 'RestrictNamespaces=%i', EPERM),
    'reset-to-deny': unit('SystemCallFilter=write', 'SystemCallFilter=', 'SystemCallFilter=~uname', EPERM),
    'reset-to-nothing': unit('SystemCallFilter=~uname', 'SystemCallFilter='),
    'errno-reset': unit('SystemCallFilter=~uname', EPERM, 'SystemCallErrorNumber='),
    'errno-kill': unit('SystemCallFilter=~uname', EPERM, 'SystemCallErrorNumber=kill'),
    'errno-zero': unit('SystemCallFilter=~uname', EPERM, 'SystemCallErrorNumber=0', 'SystemCallErrorNumber=4096',
                       'SystemCallErrorNumber=EPERM EACCES'),
    'errno-hex': unit('SystemCallFilter=~uname', 'SystemCallErrorNumber=0x10'),
    'errno-largest': unit('SystemCallFilter=~uname', 'SystemCallErrorNumber=4094'),
    'errno-unused-too-large': unit('SystemCallFilter=~uname:EPERM', 'SystemCallErrorNumber=4095'),
    # SystemCallLog=
    'log': unit('SystemCallLog=uname @mount'),
    'log-all-but': unit('SystemCallLog=~uname @mount'),
    'log-minus': unit('SystemCallLog=@system-service', 'SystemCallLog=~@mount uname'),
    'log-errno-ignored': unit('SystemCallLog=uname:EPERM chmod'),
    'log-nothing-left': unit('SystemCallLog=uname', 'SystemCallLog=~uname'),
    'log-reset': unit('SystemCallLog=uname', 'SystemCallLog='),
    # SystemCallArchitectures=
    'arch-native': unit('SystemCallArchitectures=native', 'LockPersonality=yes', 'RestrictRealtime=yes'),
    'arch-x86': unit('SystemCallArchitectures=x86', 'LockPersonality=yes'),
    'arch-x32-quoted': unit('SystemCallArchitectures=x86-64 bogus "x32"', 'SystemCallFilter=~uname', EPERM),
    'arch-all': unit('SystemCallArchitectures=x86 x32 x86-64', 'SystemCallFilter=~uname', EPERM),
    'arch-foreign': unit('SystemCallArchitectures=arm64', 'LockPersonality=yes'),
    'arch-reset': unit('SystemCallArchitectures=native', 'SystemCallArchitectures=', 'LockPersonality=yes'),
    'arch-only-unknown': unit('SystemCallArchitectures=bogus', 'LockPersonality=yes'),
    # Personality
    'personality-x86': unit('Personality=x86', 'LockPersonality=yes'),
    'personality-x86-64': unit('Personality=x86-64', 'LockPersonality=yes'),
    'personality-unknown': unit('Personality=arm64', 'LockPersonality=yes'),
    'personality-reset': unit('Personality=x86', 'Personality=', 'LockPersonality=yes'),
    # RestrictNamespaces=
    'namespaces': unit('RestrictNamespaces=yes'),
    'namespaces-no': unit('RestrictNamespaces=no'),
    'namespaces-reset': unit('RestrictNamespaces=yes', 'RestrictNamespaces='),
    'namespaces-some': unit('RestrictNamespaces=net  pid\tuts'),
    'namespaces-deny': unit('RestrictNamespaces=~user mnt'),
    'namespaces-deny-all': unit('RestrictNamespaces=~cgroup ipc net mnt pid user uts'),
    'namespaces-allow-all': unit('RestrictNamespaces=cgroup ipc net mnt pid user uts'),
    'namespaces-merge': unit('RestrictNamespaces=mnt pid', 'RestrictNamespaces=~mnt', 'RestrictNamespaces=net'),
    'namespaces-no-then-deny': unit('RestrictNamespaces=no', 'RestrictNamespaces=~net'),
    'namespaces-yes-then-allow': unit('RestrictNamespaces=yes', 'RestrictNamespaces=net'),
    'namespaces-one-unknown': unit('RestrictNamespaces=~net', 'RestrictNamespaces=pid bogus'),
    'namespaces-quoted': unit('RestrictNamespaces="net pid"', 'RestrictNamespaces=~yes', 'RestrictNamespaces=CLONE_NEWNET'),
    'namespaces-time': unit('RestrictNamespaces=time'),
    'namespaces-time-and-all': unit('RestrictNamespaces=time net', 'RestrictNamespaces=~net'),
    'namespaces-deny-time': unit('RestrictNamespaces=~time'),
    'namespaces-no-then-deny-time': unit('RestrictNamespaces=no', 'RestrictNamespaces=~time'),
    'namespaces-empty-deny': unit('RestrictNamespaces=~'),
    # RestrictAddressFamilies=
    'families': unit('RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6'),
    'families-deny': unit('RestrictAddressFamilies=~AF_PACKET AF_NETLINK', 'RestrictAddressFamilies=AF_NETLINK'),
    'families-none': unit('RestrictAddressFamilies=none'),
    'families-none-then-deny': unit('RestrictAddressFamilies=none', 'RestrictAddressFamilies=~AF_UNIX'),
    'families-then-none': unit('RestrictAddressFamilies=AF_UNIX', 'RestrictAddressFamilies=none'),
    'families-removed': unit('RestrictAddressFamilies=AF_UNIX', 'RestrictAddressFamilies=~AF_UNIX'),
    'families-taken-back': unit('RestrictAddressFamilies=~AF_UNIX', 'RestrictAddressFamilies=AF_UNIX'),
    'families-reset': unit('RestrictAddressFamilies=AF_UNIX', 'RestrictAddressFamilies='),
    'families-words': unit('RestrictAddressFamilies="AF_UNIX" \'AF_INET\' AF_\\INET6 AF_NOPE AF_UNSPEC AF_LOCAL AF_ROUTE AF_MAX 16 ""'),
    'families-open-quote': unit('RestrictAddressFamilies=AF_UNIX "AF_INET'),
    'families-far-apart': unit('RestrictAddressFamilies=AF_UNIX AF_MCTP'),
    # Text
    'continued': unit('SystemCallFilter=~uname per\\', '   sonality \\', '# a comment inside', '  chmod', EPERM),
    'continued-ends': unit('SystemCallFilter=~uname \\', '; c', '  ', ' chmod', EPERM),
    'continued-at-end': unit(EPERM, 'SystemCallFilter=~uname \\'),
    'backslashes': unit('SystemCallFilter=~uname chmod\\\\', EPERM),
    'line-ends': unit('SystemCallFilter=~uname\r', 'SystemCallErrorNumber=EPERM\rRestrictRealtime=yes\n\rProtectClock=yes'),
    'nul-ends-line': unit(b'SystemCallFilter=~uname\0SystemCallErrorNumber=EPERM'),
    'byte-order-mark': unit('SystemCallFilter=~uname', EPERM, '\ufeff[Service]', 'LockPersonality=yes'),
    'not-assignments': unit('SystemCallFilter=~uname', EPERM, 'nonsense', '=x', 'LockPersonality=yes'),
    'other-sections': unit('SystemCallFilter=~uname', EPERM, '[Foo]', 'LockPersonality=yes', '[X-Foo]', 'RestrictRealtime=yes',
                           '[Socket]', 'ProtectClock=yes', '[Service]', 'RestrictSUIDSGID=yes'),
    'case-matters': unit('systemcallfilter=~uname', 'Lockpersonality=yes'),
    'blanks': unit('LockPersonality = yes', '  RestrictRealtime\t=\t yes  '),
    'comment-of-any-bytes': unit(b'# \xff comment', 'LockPersonality=yes'),
    # Drop-ins
    'dropins': unit('SystemCallFilter=~uname', EPERM, x20_b='[Service]\nSystemCallFilter=~chmod\n',
                    x10_a='[Service]\nSystemCallFilter=\nSystemCallFilter=~personality\n'),
    'dropins-order': unit('SystemCallFilter=~uname', x9='[Service]\nSystemCallErrorNumber=ENOENT\n',
                          x10='[Service]\nSystemCallErrorNumber=EPERM\n'),
    'dropins-switch': unit('RestrictRealtime=yes', 'LockPersonality=yes', x50_off='[Service]\nRestrictRealtime=no\n',
                           x60_no_section='ProtectClock=yes\n[Unit]\nDescription=x\n'),
    'dropins-reset-families': unit('RestrictAddressFamilies=AF_UNIX', 'RestrictNamespaces=yes',
                                   x1='[Service]\nRestrictAddressFamilies=\nRestrictAddressFamilies=~AF_PACKET\nRestrictNamespaces=net\n'),
}

# What systemd does not start: (what it says about the unit, what our error says, the unit).
NOT_LOADED, NOT_STARTED = 'LoadState=error', 'ExecMainStatus=228'  # EXIT_SECCOMP
RULE_OF_DEFAULT = 'the action of this entry is what other calls get as well'
REFUSED = {
    'refused-default-errno': (NOT_STARTED, RULE_OF_DEFAULT,
                              unit('SystemCallFilter=@system-service', 'SystemCallFilter=~uname:EPERM', EPERM)),
    'refused-default-kill': (NOT_STARTED, RULE_OF_DEFAULT, unit('SystemCallFilter=@system-service', 'SystemCallFilter=~uname:kill')),
    'refused-errno-4095': (NOT_STARTED, 'no errno 4095', unit('SystemCallFilter=~uname', 'SystemCallErrorNumber=4095')),
    'refused-own-4095': (NOT_STARTED, 'no errno 4095', unit('SystemCallFilter=~uname:4095', EPERM)),
    'refused-allow-4095': (NOT_STARTED, 'no errno 4095', unit('SystemCallFilter=@system-service', 'SystemCallErrorNumber=4095')),
    'refused-utf8': (NOT_LOADED, 'UTF-8', unit('LockPersonality=yes', b'Environment=X=\xff\xfe')),
    'refused-noncharacter': (NOT_LOADED, 'UTF-8', unit('LockPersonality=yes', b'Environment=X=\xef\xbf\xbe')),
    'refused-header': (NOT_LOADED, 'section header', unit('LockPersonality=yes', '[Serv', 'RestrictRealtime=yes')),
    'refused-long-line': (NOT_LOADED, 'line', unit('LockPersonality=yes', '# ' + 'x' * (1 << 20))),
}

# Issue: every directive that the reader knows is assigned by some unit that has to compare equal.
DIRECTIVES = [*SWITCHES, 'SystemCallFilter', 'SystemCallErrorNumber', 'SystemCallLog', 'SystemCallArchitectures',
              'RestrictNamespaces', 'RestrictAddressFamilies', 'Personality', 'DynamicUser']

# Files below /run/systemd for the search for units by name: three folders of different weight.
LOOKUP_FILES = """
system/look-one.service system.control/look-one.service system/look-one.service.d/10.conf
system.control/look-one.service.d/10.conf system.attached/look-one.service.d/05.conf system/look-.service.d/20.conf
system.control/look-.service.d/05.conf system/service.d/30.conf system.attached/service.d/20.conf
system/look-two-three.service system/look-two-.service.d/6.conf system/look-two-three.service.d/.hidden.conf
system/look-tpl@.service system/look-tpl@x.service.d/1.conf system/look-tpl@.service.d/2.conf
system.control/look-tpl@.service.d/1.conf system/look-tpl@y.service system/look-other@.service.d/3.conf
system/look-alias.service.d/40.conf elsewhere/plain.service system/look-linked.service.d/7.conf
system/look-@.service.d/8.conf system/look-@x.service.d/9.conf
""".split()
LOOKUP_LINKS = {'system/look-alias.service': 'look-one.service', 'system/look-other@.service': 'look-tpl@.service',
                'system/look-linked.service': '/run/systemd/elsewhere/plain.service',
                'system/look-tpl@z.service': '/run/systemd/system/look-tpl@.service',
                'system/look-one.service.d/50.conf': '/dev/null', 'system.control/look-masked.service': '/dev/null'}
LOOKUP_NAMES = ['look-one', 'look-two-three', 'look-tpl@x', 'look-tpl@y', 'look-tpl@z', 'look-other@x', 'look-other@w',
                'look-alias', 'look-linked', 'look-masked']

# The reading is what the rules say; the installed filter lacks one of them on 32-bit x86: (the calls that only the
# reading refuses, the unit).
STRICTER = {
    'calls-case-01': ('i386 socketcall (some)', unit('SystemCallFilter=~accept', EPERM)),
    'calls-case-02': ('i386 socketcall (some), i386 ipc (some)', unit('SystemCallFilter=~semop send', EPERM)),
}


def random_filter(rng):
    calls = ['uname', 'chmod:EILSEQ', 'personality', '@mount', '@clock:ENOENT', '@swap:kill', 'socket', 'accept', 'semop',
             '@raw-io', 'fstat64', '@setuid', 'ptrace', 'init_module:kill', '@keyring', 'shmat', 'recvmmsg:5']
    if rng.random() < 0.5:
        yield 'SystemCallFilter=@system-service'
        yield 'SystemCallFilter=~' + ' '.join(rng.sample(calls, rng.randint(1, 6)))
    else:
        yield 'SystemCallFilter=~fchdir ' + ' '.join(rng.sample(calls, rng.randint(1, 8)))
        if rng.random() < 0.4:
            yield 'SystemCallFilter=' + ' '.join(call.split(':')[0] for call in rng.sample(calls, 2))
    yield 'SystemCallErrorNumber=' + rng.choice(['EPERM', '13', 'ENOSYS'])


def random_lines(rng):
    lines = [f'{name}={rng.choice(["yes", "no", "true"])}' for name in SWITCHES if rng.random() < 0.35]
    families = ['AF_UNIX', 'AF_INET', 'AF_INET6', 'AF_NETLINK', 'AF_PACKET', 'AF_VSOCK', 'AF_ALG']
    namespaces = ['cgroup', 'ipc', 'net', 'mnt', 'pid', 'user', 'uts']
    for _ in range(rng.randint(0, 3)):
        lines.append(f'RestrictAddressFamilies={rng.choice(["", "~"])}{" ".join(rng.sample(families, rng.randint(0, 4)))}')
    for _ in range(rng.randint(0, 3)):
        lines.append(f'RestrictNamespaces={rng.choice(["", "~"])}{" ".join(rng.sample(namespaces, rng.randint(0, 4)))}')
    if rng.random() < 0.5:
        lines.append('SystemCallArchitectures=' + ' '.join(rng.sample(['native', 'x86', 'x32', 'arm64'], rng.randint(1, 2))))
    if rng.random() < 0.3:
        lines.append('SystemCallLog=' + rng.choice(['', '~']) + ' '.join(['uname', *rng.sample(['@mount', 'write', 'ptrace'], 2)]))
    if rng.random() < 0.3:
        lines.append('Personality=' + rng.choice(['x86', 'x86-64']))
    rng.shuffle(lines)
    return lines + (list(random_filter(rng)) if rng.random() < 0.7 else [])


def random_units(rng, count):
    units = {}
    for i in range(count):
        drop_ins = {f'x{n}': '[Service]\n' + '\n'.join(random_lines(rng)) + '\n' for n in range(rng.randint(0, 2))}
        units[f'random-{i}'] = unit(*random_lines(rng), **drop_ins)
    return units
