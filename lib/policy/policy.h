// SPDX-License-Identifier: Apache-2.0
// NOUN: what an author wrote, validated, with source locations. Rules, not yet a function: the conventions
// that turn rules into verdicts are in evaluate.h (slow and obvious, the oracle) and lower/ (diagrams).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "abi/arch.h"
#include "abi/verdict.h"
#include "support/diagnostic.h"

namespace seccompress::policy {

enum class Operator : std::uint8_t { ne, lt, le, eq, ge, gt, masked_eq };

// One comparison of one 64-bit argument, unsigned.
struct Condition {
  std::uint8_t index = 0;  // 0..5
  Operator op = Operator::eq;
  std::uint64_t value = 0;  // masked_eq: the MASK (runtime-spec: (arg & value) == valueTwo)
  std::uint64_t value_two = 0;
  Location where;
  bool low_word = false;  // compares the low 32 bits alone, as libseccomp does on 32-bit architectures
};

// One entry of `syscalls`: for each name, `verdict` when all conditions hold; at most one condition an argument. The
// reader has already split entries whose argument index occurs twice (they mean OR): such a rule has one condition and
// or_turned set.
struct Rule {
  std::vector<std::string> names;
  abi::Verdict verdict = abi::kKillThread;
  std::vector<Condition> all_of;  // empty: always
  bool or_turned = false;
  Location where;
  // Besides the names: values of seccomp_data.nr (never -1) that the rule is about on every listed architecture that
  // can have them. Nothing is expanded for them.
  std::vector<std::uint32_t> numbers = {};
};

struct Policy {
  std::string source;  // file name for messages
  abi::Verdict default_verdict = abi::kKillThread;
  abi::Verdict bad_arch_verdict = abi::kKillThread;  // libseccomp's SCMP_FLTATR_ACT_BADARCH default
  std::vector<abi::Arch> architectures;              // each once; native always there
  bool native_added = false;       // the profile does not list it: it is first, put there by the reader
  std::vector<Rule> rules;         // in order
  std::vector<std::string> flags;  // SECCOMP_FILTER_FLAG_*
  bool flags_present = false;      // absent and [] differ (runtimes.md 2.1)
  std::string listener_path;
  // Numbers above this answer ERRNO(ENOSYS) before any rule, per AUDIT word (runc's stub); set by
  // apply_runtime only.
  struct EnosysAbove {
    abi::Arch arch;
    std::uint32_t last;
  };
  std::vector<EnosysAbove> enosys_above;
  Location default_where = {}, architectures_where = {};  // line 0: nothing says so in particular
};

}  // namespace seccompress::policy
