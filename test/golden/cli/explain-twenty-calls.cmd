# A hardened unit with a drop-in below a container's profile: a call for each directive, for the profile, for both at
# once; allowed, by arguments, of another architecture, and one that nobody knows.
layers="--arch x86_64 --kernel 6.1 --systemd-version 252 --caps sys_admin worker.service docker:container.json"
say() {
  echo "== $*"
  seccompress explain $layers -- "$@" || echo "exit code $?"
  echo
}
say sethostname
say socket 17 3 0
say mprotect 0x1000 4096 5
say sched_setscheduler 0 1
say fchmod 3 2541
say unshare 0x10000000
say init_module
say syslog
say clock_settime
say iopl
say personality 8
say mlock
say process_vm_readv
say chown
say mount
say uname
say ptrace
say add_key
say read
say clone
say 9999
echo "== i386 getpid"
seccompress explain $layers --call-arch i386 -- getpid
