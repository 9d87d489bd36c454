// SPDX-License-Identifier: Apache-2.0
// The oracle: what the rules say for one concrete call, by walking them. Slow and obvious on purpose; tests
// hold lower/ to it.
//
// The conventions all runtimes share (facts: runc libcontainer/seccomp, crun src/libcrun/seccomp.c,
// libseccomp 2.5.4):
//   * arch not listed -> bad_arch_verdict; x86_64 without x32: nr >= 0x40000000 except 0xffffffff likewise
//   * a rule whose verdict is the default is skipped; names unknown on an architecture are skipped
//   * an unconditional rule beats conditional ones (of several, the first)
//   * of the conditional rules that match, the most restrictive wins (kernel order); of equal actions with other
//     data the narrower one, else the first (precedence.h)
//   * on a 32-bit architecture a condition compares low words (libseccomp src/db.c _db_rule_gen_32)
//   * 32-bit x86 (and s390, ...): socket and ipc calls also as socketcall/ipc with a0 == call number
#pragma once

#include "abi/word.h"
#include "policy/policy.h"

namespace seccompress::policy {

abi::Verdict evaluate(const Policy& policy, const abi::SeccompData& data);

// The same with its reason. A decision points into the policy.
enum class Ground : std::uint8_t {
  rule,             // Decision::rule holds and decides
  default_verdict,  // no rule holds
  bad_arch,         // the architecture is not listed
  enosys,           // Policy::enosys_above: the runtime's answer to numbers it does not know
};
struct Decision {
  abi::Verdict verdict = abi::kKillProcess;
  Ground ground = Ground::default_verdict;
  const Rule* rule = nullptr;  // for default_verdict: the last rule that names the call and gives the default itself
  std::size_t naming =
      0;  // rules that name the call and give another verdict than the default, whether they hold or not
};
Decision decide(const Policy& policy, const abi::SeccompData& data);
bool holds(const Condition& condition, std::uint64_t argument);

// 64-bit argument values that exercise the condition: boundary, boundary +-1, other high word, mask
// complement.
std::vector<std::uint64_t> interesting_values(const Condition& condition);

}  // namespace seccompress::policy
