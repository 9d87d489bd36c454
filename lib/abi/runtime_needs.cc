// SPDX-License-Identifier: Apache-2.0
#include "abi/runtime_needs.h"

#include <fcntl.h>

#include <array>

#include "abi/arch.h"
#include "abi/syscalls.h"
#include "support/check.h"

namespace seccompress::abi {
namespace {

constexpr std::uint64_t kSomeAddress = 0x7f0000001000;
constexpr std::uint64_t kAtCwd = static_cast<std::uint32_t>(AT_FDCWD);  // the kernel reads an int; runtimes pass it so
constexpr std::uint64_t kOpenWriteCloexec = O_WRONLY | O_CLOEXEC;

constexpr std::array kNeeds = {
#define NEED(runtime, no_new_privs, call, a0, a1, a2, need, made) \
  RuntimeNeed{Runtime::runtime, NoNewPrivs::no_new_privs, #call, {a0, a1, a2}, Need::need, Made::made},
#include "abi/runtime_needs.def"
#undef NEED
};

bool applies(const RuntimeNeed& need, Runtime runtime, bool no_new_privs) {
  if (need.runtime != runtime) return false;
  return need.no_new_privs == NoNewPrivs::both || (need.no_new_privs == NoNewPrivs::on) == no_new_privs;
}

}  // namespace

std::string_view to_string(Runtime runtime) { return runtime == Runtime::runc ? "runc" : "crun"; }

std::span<const RuntimeNeed> runtime_needs() { return kNeeds; }

SeccompData call_of(const RuntimeNeed& need) {
  const auto number = syscall_number(native_arch(), need.call);
  CHECK(number.has_value());
  SeccompData data{};
  data.nr = static_cast<int>(*number);
  data.arch = facts(native_arch()).audit;
  for (int i = 0; i < 3; ++i) data.args[i] = need.arguments[i];
  return data;
}

bool meets(Need need, Verdict verdict) {
  const auto action = action_of(verdict);
  if (!action) return false;
  switch (*action) {
    case Action::allow:
    case Action::log:
    case Action::user_notif: return true;
    case Action::errno_:
    case Action::trace: return need == Need::survived;
    case Action::kill_process:
    case Action::kill_thread:
    case Action::trap: return false;
  }
  return false;
}

std::vector<RuntimeNeed> unmet_needs(Runtime runtime, bool no_new_privs,
                                     const std::function<Verdict(const SeccompData&)>& verdict_of) {
  std::vector<RuntimeNeed> unmet;
  for (const RuntimeNeed& need : kNeeds)
    if (applies(need, runtime, no_new_privs) && !meets(need.need, verdict_of(call_of(need)))) unmet.push_back(need);
  return unmet;
}

}  // namespace seccompress::abi
