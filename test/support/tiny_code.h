// SPDX-License-Identifier: Apache-2.0
// Programs over a tiny alphabet with every instruction that seccomp has, and all inputs that the alphabet can
// tell apart: what brute force can decide.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "support/program_builder.h"
#include "support/random_code.h"

namespace seccompress::test {

struct TinyShape {
  std::vector<abi::Word> words;  // the only words loaded
  std::size_t length = 8;        // without the last RET
  bool arithmetic = false;       // X, scratch memory, RET A and arithmetic, of words cut to three bits
  bool unknowable = false;       // with arithmetic: also MUL, DIV and shifts by X
};

// Accepted by program::check.
Code tiny_code(Random& random, const TinyShape& shape);

// One instruction changed a little: a jump, a constant, a verdict, a comparison. Still accepted.
Code mutate(Random& random, const Code& code);
// Every such change of instruction pc: jt and jf +-1, k +-1, JEQ <-> JGE, another verdict. Those the kernel
// would refuse are left out.
std::vector<Code> mutants(const Code& code, std::size_t pc);

// The same program written otherwise: comparisons turned, JA 0 put in, scratch words renamed.
Code rewrite(Random& random, const Code& code);

// Calls visit with every combination of the values of `words` that tiny code can tell apart until it returns
// false; other words are 0.
void for_each_input(std::span<const abi::Word> words, const std::function<bool(const abi::SeccompData&)>& visit);

}  // namespace seccompress::test
