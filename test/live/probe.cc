// SPDX-License-Identifier: Apache-2.0
// The container's program in live tests: says what its filters let it do. Static, so that it runs in an empty root.
//   probe           one line per fact, then "ready", then the end
//   probe wait      the same, then waits to be killed
//   probe status    waits likewise, without a call that a strict service's filters answer with death
// Lines: "Seccomp 2", "Seccomp_filters 1", "NoNewPrivs 0", then "NAME RESULT ERRNO" of calls without effect.
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>

namespace {

void print_status() {
  std::FILE* status = std::fopen("/proc/self/status", "re");
  if (status == nullptr) return;
  char line[4096];
  while (std::fgets(line, sizeof line, status) != nullptr) {
    char name[64];
    unsigned long value = 0;
    if (std::sscanf(line, "%63[^:]:\t%lu", name, &value) != 2) continue;
    for (const char* wanted : {"Seccomp", "Seccomp_filters", "NoNewPrivs"})
      if (std::strcmp(name, wanted) == 0) std::printf("%s %lu\n", name, value);
  }
  std::fclose(status);
}

void print_call(const char* name, long result) { std::printf("%s %ld %d\n", name, result, result < 0 ? errno : 0); }

void print_calls() {
  static utsname names;
  print_call("uname", ::syscall(SYS_uname, &names));
  print_call("sethostname", ::syscall(SYS_sethostname, "x", -1L));
  print_call("umask", ::syscall(SYS_umask, 022));
  print_call("keyctl", ::syscall(SYS_keyctl, 0, 0, 0, 0, 0));
  print_call("unshare", ::syscall(SYS_unshare, 0));
  print_call("mount", ::syscall(SYS_mount, 0, 0, 0, 0, 0));
  print_call("acct", ::syscall(SYS_acct, "/nonexistent"));
  print_call("ptrace", ::syscall(SYS_ptrace, -1L, 0, 0, 0));
  print_call("personality", ::syscall(SYS_personality, 8));
  print_call("getpriority", ::syscall(SYS_getpriority, 99, 0));
}

}  // namespace

int main(int argc, char** argv) {
  const bool only_status = argc > 1 && std::strcmp(argv[1], "status") == 0;
  print_status();
  if (!only_status) print_calls();
  std::puts("ready");
  std::fflush(stdout);
  if (only_status || (argc > 1 && std::strcmp(argv[1], "wait") == 0)) ::pause();
  return 0;
}
