// SPDX-License-Identifier: Apache-2.0
#include "support/wild_code.h"

#include <algorithm>
#include <iterator>

#include "support/program_builder.h"

namespace seccompress::test {
namespace {

using program::Code, program::Instruction;

constexpr std::uint32_t kConstants[] = {0,  1,    2,      3,          5,          8,          31,
                                        32, 0xff, 0x1000, 0x7fffffff, 0x80000000, 0xffff0000, 0xffffffff};
constexpr abi::Verdict kVerdicts[] = {abi::kAllow,       abi::kAllow,      abi::kErrno | 1, abi::kErrno | 2,
                                      abi::kKillProcess, abi::kKillThread, abi::kLog,       abi::kTrap | 7,
                                      abi::kTrace | 9,   0x00060000U};
constexpr unsigned kRelations[] = {BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JSET};
constexpr unsigned kOperations[] = {BPF_ADD, BPF_SUB, BPF_AND, BPF_OR, BPF_XOR, BPF_MUL, BPF_DIV, BPF_LSH, BPF_RSH};

std::uint32_t below(Random& random, std::size_t limit) { return static_cast<std::uint32_t>(random() % limit); }
template <class T, std::size_t N>
T pick(Random& random, const T (&values)[N]) {
  return values[random() % N];
}

Instruction load(Random& random) {
  switch (random() % 12) {
    case 0: return ld(abi::kNr);
    case 1: return ld(abi::kArch);
    case 2: return ld(abi::kIpLow);
    case 3: return ld_imm(pick(random, kConstants));
    case 4: return ld_len();
    default: return ld(static_cast<abi::Word>(abi::kArgs + below(random, 4)));
  }
}

Instruction move(Random& random) {
  const std::uint32_t cell = below(random, 3);
  switch (random() % 8) {
    case 0: return ldx_imm(pick(random, kConstants));
    case 1: return ld_mem(cell);
    case 2: return ldx_mem(cell);
    case 3: return st(cell);
    case 4: return stx(cell);
    case 5: return txa();
    default: return tax();
  }
}

Instruction arithmetic(Random& random) {
  const unsigned operation = pick(random, kOperations);
  if (random() % 8 == 0) return neg();
  if (random() % 2 == 0) return alu_x(operation);
  const bool shifts = operation == BPF_LSH || operation == BPF_RSH;
  const std::uint32_t k = pick(random, kConstants);
  return alu(operation, shifts ? k % 32 : operation == BPF_DIV && k == 0 ? 7 : k);
}

Instruction test_of(Random& random, std::size_t left) {
  const unsigned reach = static_cast<unsigned>(std::min<std::size_t>(left, 8));
  const unsigned jt = below(random, reach), jf = below(random, reach);
  if (random() % 2 == 0) return jump_x(pick(random, kRelations), jt, jf);
  return jump(pick(random, kRelations), pick(random, kConstants), jt, jf);
}

Instruction any(Random& random, const WildShape& shape, std::size_t left) {
  switch (random() % 12) {
    case 0: return random() % 3 == 0 ? ja(below(random, std::min<std::size_t>(left, 3))) : ret(pick(random, kVerdicts));
    case 1:
    case 2: return load(random);
    case 3:
    case 4:
    case 5: return move(random);
    case 6:
    case 7:
    case 8: return arithmetic(random);
    case 9: return shape.computed_verdicts && random() % 4 == 0 ? ret_a() : test_of(random, left);
    default: return test_of(random, left);
  }
}

Instruction load_argument(Random& random) { return ld(static_cast<abi::Word>(abi::kArgs + below(random, 4))); }

// Two arguments are related, perhaps after a computation; one way out of three returns.
void add_relation(Random& random, const WildShape& shape, Code& code) {
  code.push_back(load_argument(random));
  if (random() % 2 == 0) code.push_back(st(below(random, 3)));
  code.push_back(tax());
  code.push_back(random() % 4 == 0 ? ld_mem(below(random, 3)) : load_argument(random));
  while (random() % 2 == 0) code.push_back(arithmetic(random));
  code.push_back(jump_x(pick(random, kRelations), 0, 1));
  if (shape.computed_verdicts && random() % 4 == 0)
    code.push_back(ret_a());
  else
    code.push_back(ret(pick(random, kVerdicts)));
}

Code attempt(Random& random, const WildShape& shape) {
  Code code;
  if (random() % 2 == 0) code = {ld(abi::kArch), jeq(kX8664, 1, 0), ret(pick(random, kVerdicts))};
  if (random() % 4 != 0)  // most numbers are not looked at any further
    code.insert(code.end(), {ld(abi::kNr), jge(shape.numbers, 0, 1), ret(pick(random, kVerdicts)),
                             jeq(below(random, shape.numbers), 0, 1), ret(pick(random, kVerdicts))});
  for (std::uint32_t cell = 0; cell < 3; ++cell) code.insert(code.end(), {load_argument(random), st(cell)});
  const std::size_t end = code.size() + shape.length;
  while (code.size() < end) {
    if (random() % 3 == 0)
      add_relation(random, shape, code);
    else
      code.push_back(any(random, shape, 4));
  }
  for (int i = 0; i < 9; ++i) code.push_back(ret(pick(random, kVerdicts)));
  return code;
}

}  // namespace

Code wild_code(Random& random, const WildShape& shape) {
  for (;;) {
    Code code = attempt(random, shape);
    if (program::check(code)) return code;
  }
}

abi::SeccompData wild_data(Random& random, std::span<const Code> codes, const WildShape& shape) {
  abi::SeccompData data = random_data(random, codes);
  if (random() % 8 != 0) data.arch = kX8664;
  if (random() % 8 != 0) data.nr = static_cast<int>(below(random, shape.numbers + 1));
  for (auto& argument : data.args) {
    if (random() % 2 == 0) argument = pick(random, kConstants);
    if (random() % 4 == 0) argument = data.args[0] + random() % 3 - 1;
  }
  return data;
}

}  // namespace seccompress::test
