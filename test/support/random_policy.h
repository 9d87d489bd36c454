// SPDX-License-Identifier: Apache-2.0
// Random policies over few names, few constants and every operator, so that rules meet often.
#pragma once

#include "policy/policy.h"
#include "support/random_code.h"

namespace seccompress::test {

struct PolicyShape {
  std::size_t rules = 5;
  std::size_t conditions = 3;      // at most, a rule
  bool many_architectures = true;  // else x86_64 alone
  bool only_equality = false;      // EQ and MASKED_EQ, the operators that libseccomp gets right
  bool enosys = true;
};

policy::Policy random_policy(Random& random, const PolicyShape& shape);

}  // namespace seccompress::test
