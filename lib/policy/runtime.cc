// SPDX-License-Identifier: Apache-2.0
// Input: a policy as read. Output: the policy that the runtime hands to the kernel's compiler, plus its own
// additions. Entry point: apply_runtime.
//
// Sources: runc libcontainer/seccomp/{seccomp_linux.go,patchbpf/enosys_linux.go}, crun src/libcrun/seccomp.c.
// Names unknown to the runtime are skipped by all three, as they are by evaluate() and lower().
#include "policy/runtime.h"

#include <algorithm>

#include "abi/multiplex.h"
#include "abi/syscalls.h"

namespace seccompress::policy {
namespace {

// runc 1.1.13 made the stub cover the native architecture when the profile does not list it.
constexpr RuntimeVersion kStubAlwaysCoversNative{1, 1, 13};

// patchbpf's isAllowAction: no stub where unknown calls run, or where a tracer answers for them.
bool answers_unknown_calls(abi::Verdict verdict) {
  const abi::Verdict action = abi::action_word(verdict);
  return action == abi::kAllow || action == abi::kLog || action == abi::kTrace;
}

// The largest number of all names, whatever their action; 0 when the architecture knows none. Names that
// libseccomp resolves to its negative multiplexed numbers do not count.
std::uint32_t last_number(const Policy& policy, abi::Arch arch) {
  std::uint32_t last = 0;
  for (const Rule& rule : policy.rules)
    for (const std::string& name : rule.names)
      if (!abi::multiplexed_call(arch, name)) last = std::max(last, abi::syscall_number(arch, name).value_or(0));
  return last;
}

void add_enosys_stub(Policy& policy, RuntimeVersion version) {
  if (answers_unknown_calls(policy.default_verdict)) return;
  for (const abi::Arch arch : policy.architectures) {
    if (policy.native_added && arch == policy.architectures.front() && version < kStubAlwaysCoversNative) continue;
    if (const std::uint32_t last = last_number(policy, arch); last != 0) policy.enosys_above.push_back({arch, last});
  }
}

bool notifies(abi::Verdict verdict) { return abi::action_word(verdict) == abi::kUserNotif; }

// runc libcontainer/seccomp/seccomp_linux.go InitSeccomp: a container whose write or default is a
// notification could never hand its listener over.
Result<void> refuse_notifications(const Policy& policy) {
  if (notifies(policy.default_verdict))
    return failure(Errc::refused, "runc does not start with SCMP_ACT_NOTIFY as the default action");
  for (const Rule& rule : policy.rules) {
    if (!notifies(rule.verdict)) continue;
    if (std::find(rule.names.begin(), rule.names.end(), "write") != rule.names.end())
      return failure(Errc::refused, "runc does not start with SCMP_ACT_NOTIFY for write");
    if (policy.listener_path.empty())
      return failure(Errc::refused, "runc does not start with SCMP_ACT_NOTIFY without a listenerPath");
  }
  return {};
}

}  // namespace

std::optional<Runtime> runtime_from_name(std::string_view name) {
  for (const Runtime runtime : {Runtime::none, Runtime::runc, Runtime::crun, Runtime::youki})
    if (to_string(runtime) == name) return runtime;
  return std::nullopt;
}

std::string_view to_string(Runtime runtime) {
  switch (runtime) {
    case Runtime::none: return "none";
    case Runtime::runc: return "runc";
    case Runtime::crun: return "crun";
    case Runtime::youki: return "youki";
  }
  return "?";
}

Result<Policy> apply_runtime(Policy policy, Runtime runtime, RuntimeVersion version) {
  if (runtime != Runtime::runc) return policy;
  TRY(refuse_notifications(policy));
  add_enosys_stub(policy, version);
  return policy;
}

}  // namespace seccompress::policy
