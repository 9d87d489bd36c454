// SPDX-License-Identifier: Apache-2.0
// Whose verdict it is: for one concrete call every filter's own answer, where in its source that comes from, and
// which filter the kernel takes it from. Evaluated per call; diagrams hold no provenance.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagram/store.h"
#include "policy/evaluate.h"
#include "program/program.h"

namespace seccompress::explain {

// One filter of a stack. A policy's `code` is its reference program.
struct Filter {
  std::size_t layer = 0;
  std::string name;
  program::CodeView code;
  const policy::Policy* policy = nullptr;
  diagram::Node node = 0;
};

struct Opinion {
  abi::Verdict verdict = abi::kKillProcess;
  std::optional<policy::Decision> decision;  // of a policy
  std::uint32_t instruction = 0;             // of a raw filter: the RET that was reached
};
Opinion opinion_of(const Filter& filter, const abi::SeccompData& data);

struct Explanation {
  abi::Verdict verdict = abi::kAllow;
  // The filter whose verdict the kernel takes (kernel/seccomp.c seccomp_run_filters: the smallest action, of equal
  // ones the newest). nullopt: every filter allows, or there is none.
  std::optional<std::size_t> winner;
  std::vector<Opinion> opinions;  // one a filter
};
Explanation explain(std::span<const Filter> oldest_first, const abi::SeccompData& data);

}  // namespace seccompress::explain
