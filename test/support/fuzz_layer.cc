// SPDX-License-Identifier: Apache-2.0
#include "support/fuzz_layer.h"

#include "lower/lower.h"
#include "policy/print.h"
#include "read/reader.h"
#include "support/check.h"
#include "support/policy_inputs.h"

namespace seccompress::test {
namespace {

void check_policy(const policy::Policy& policy) {
  CHECK(!policy::to_string(policy).empty());
  diagram::Store store;
  if (const auto node = lower::lower(policy, store); !node) {
    CHECK(node.error().code == make_error_code(Errc::budget));
    return;
  }
  if (policy.rules.size() > 200) return;  // the evaluator is slow
  std::vector<Number> numbers = named_numbers(policy);
  if (numbers.size() > 50) numbers.resize(50);
  Random random(1);
  CHECK(!compare_lowering(policy, numbers, 8, random).disagreement);
}

}  // namespace

void fuzz_layer(std::string_view kind, std::string_view bytes) {
  Diagnostics diagnostics;
  const read::Options options{.arch = abi::Arch::x86_64, .caps = read::docker_default_caps(), .kernel = {6, 1}};
  const auto layer = read::read_bytes({std::string(kind), "input"}, bytes, options, diagnostics);
  if (!layer) {
    CHECK(diagnostics.has_errors());
    return;
  }
  CHECK(!diagnostics.has_errors());
  if (const auto* policy = std::get_if<policy::Policy>(&layer->content))
    check_policy(*policy);
  else if (const auto* policies = std::get_if<std::vector<read::NamedPolicy>>(&layer->content))
    for (const read::NamedPolicy& one : *policies) check_policy(one.policy);
  else
    for (const read::NamedFilter& filter : std::get<std::vector<read::NamedFilter>>(layer->content))
      CHECK(program::check(filter.code).has_value());
}

}  // namespace seccompress::test
