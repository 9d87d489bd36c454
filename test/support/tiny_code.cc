// SPDX-License-Identifier: Apache-2.0
// The alphabet: constants 0 to 8 and 0x80000000, masks of the lowest three bits and the highest. A word then
// is known by its value up to 9, or by those bits and being larger: kValues has one value of each kind.
#include "support/tiny_code.h"

#include <algorithm>
#include <array>

namespace seccompress::test {
namespace {

constexpr auto kValues = [] {
  std::array<std::uint32_t, 33> values{};
  for (std::uint32_t i = 0; i < 24; ++i) values[i] = i;
  for (std::uint32_t i = 0; i < 9; ++i) values[24 + i] = 0x80000000U + i;
  return values;
}();
constexpr std::uint32_t kConstants[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 0x80000000U};
constexpr std::uint32_t kMasks[] = {1, 2, 3, 4, 6, 7, 0x80000000U, 0x80000003U};
constexpr abi::Verdict kVerdicts[] = {abi::kAllow, abi::kAllow, abi::kErrno | 1, abi::kErrno | 2, abi::kKillProcess};
constexpr unsigned kRelations[] = {BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JSET};

template <class T>
const typename T::value_type& pick(Random& random, const T& values) {
  return values[random() % values.size()];
}
template <class T, std::size_t N>
T pick(Random& random, const T (&values)[N]) {
  return values[random() % N];
}

std::uint32_t small(Random& random, std::uint32_t below) { return static_cast<std::uint32_t>(random() % below); }

Instruction random_jump(Random& random, bool by_x, std::size_t left) {
  const unsigned reach = static_cast<unsigned>(std::min<std::size_t>(left, 6));
  const unsigned jt = static_cast<unsigned>(random() % reach), jf = static_cast<unsigned>(random() % reach);
  const unsigned relation = pick(random, kRelations);
  if (by_x) return jump_x(relation, jt, jf);
  return jump(relation, relation == BPF_JSET ? pick(random, kMasks) : pick(random, kConstants), jt, jf);
}

Instruction random_arithmetic(Random& random, bool unknowable) {
  constexpr unsigned kPlain[] = {BPF_ADD, BPF_SUB, BPF_AND, BPF_OR, BPF_XOR};
  constexpr unsigned kUnknown[] = {BPF_MUL, BPF_DIV, BPF_LSH, BPF_RSH};
  if (unknowable && random() % 3 == 0)
    return random() % 2 == 0 ? alu_x(pick(random, kUnknown)) : alu(pick(random, kUnknown), small(random, 7) + 1);
  switch (random() % 6) {
    case 0: return neg();
    case 1: return alu(random() % 2 == 0 ? BPF_LSH : BPF_RSH, small(random, 3));
    case 2: return alu(pick(random, kPlain), pick(random, kConstants));
    default: return alu_x(pick(random, kPlain));
  }
}

Instruction random_move(Random& random) {
  switch (random() % 8) {
    case 0: return ld_imm(pick(random, kConstants));
    case 1: return ldx_imm(pick(random, kConstants));
    case 2: return ld_mem(small(random, 2));
    case 3: return ldx_mem(small(random, 2));
    case 4: return st(small(random, 2));
    case 5: return stx(small(random, 2));
    case 6: return txa();
    default: return tax();
  }
}

Instruction random_instruction(Random& random, const TinyShape& shape, std::size_t left) {
  const bool arithmetic = shape.arithmetic && random() % 2 == 0;
  switch (random() % 10) {
    case 0: return ret(pick(random, kVerdicts));
    case 1:
    case 2: return arithmetic ? alu(BPF_AND, 7) : ld(pick(random, shape.words));
    case 3: return alu(BPF_AND, pick(random, kMasks));
    case 4: return ja(static_cast<std::uint32_t>(random() % std::min<std::size_t>(left, 3)));
    case 5:
    case 6: return arithmetic ? random_arithmetic(random, shape.unknowable) : ld(pick(random, shape.words));
    case 7: return arithmetic ? random_move(random) : random_jump(random, false, left);
    default: return random_jump(random, arithmetic && random() % 2 == 0, left);
  }
}

bool is_conditional(const Instruction& insn) { return BPF_CLASS(insn.code) == BPF_JMP && BPF_OP(insn.code) != BPF_JA; }

// Puts JA 0 before instruction `at`; jumps across it grow.
Code with_gap(const Code& code, std::size_t at) {
  Code longer = code;
  for (std::size_t pc = 0; pc < at; ++pc) {
    Instruction& insn = longer[pc];
    if (BPF_CLASS(insn.code) != BPF_JMP) continue;
    if (!is_conditional(insn) && pc + 1 + insn.k > at) ++insn.k;
    if (is_conditional(insn) && pc + 1 + insn.jt > at) ++insn.jt;
    if (is_conditional(insn) && pc + 1 + insn.jf > at) ++insn.jf;
  }
  longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(at), ja(0));
  return longer;
}

// JGE k <-> JGT k-1, and a loaded word's JEQ K as JEQ with the constant's test turned round where possible.
void turn(Instruction& insn) {
  if (insn.code == (BPF_JMP | BPF_JGE | BPF_K) && insn.k > 0) {
    insn.code = BPF_JMP | BPF_JGT | BPF_K;
    --insn.k;
  } else if (insn.code == (BPF_JMP | BPF_JGT | BPF_K) && insn.k < 0xffffffffU) {
    insn.code = BPF_JMP | BPF_JGE | BPF_K;
    ++insn.k;
  } else if (insn.code == (BPF_ALU | BPF_ADD | BPF_K)) {
    insn.code = BPF_ALU | BPF_SUB | BPF_K;
    insn.k = 0U - insn.k;
  }
}

void rename_scratch(Code& code) {
  for (Instruction& insn : code)
    if (insn.code == BPF_ST || insn.code == BPF_STX || insn.code == (BPF_LD | BPF_MEM) ||
        insn.code == (BPF_LDX | BPF_MEM))
      insn.k = 15 - insn.k;
}

}  // namespace

Code tiny_code(Random& random, const TinyShape& shape) {
  for (;;) {
    Code code = {ld(pick(random, shape.words))};
    while (code.size() < shape.length) code.push_back(random_instruction(random, shape, shape.length - code.size()));
    if (shape.arithmetic && random() % 8 == 0)
      code.insert(code.end(), {alu(BPF_AND, 7), ret_a()});
    else
      code.push_back(ret(pick(random, kVerdicts)));
    if (program::check(code)) return code;
  }
}

std::vector<Code> mutants(const Code& code, std::size_t pc) {
  std::vector<Instruction> changed;
  const auto change = [&](auto edit) {
    Instruction insn = code[pc];
    edit(insn);
    changed.push_back(insn);
  };
  if (is_conditional(code[pc])) {
    change([](Instruction& insn) { ++insn.jt; });
    change([](Instruction& insn) { --insn.jt; });
    change([](Instruction& insn) { ++insn.jf; });
    change([](Instruction& insn) { --insn.jf; });
    const auto op = BPF_OP(code[pc].code);
    if (op == BPF_JEQ) change([](Instruction& insn) { insn.code = insn.code ^ BPF_JEQ ^ BPF_JGE; });
    if (op == BPF_JGE) change([](Instruction& insn) { insn.code = insn.code ^ BPF_JEQ ^ BPF_JGE; });
  }
  if (BPF_CLASS(code[pc].code) == BPF_RET) {
    change([](Instruction& insn) { insn.k ^= abi::kAllow ^ (abi::kErrno | 1); });
    change([](Instruction& insn) { insn.k = abi::kKillThread; });
  }
  change([](Instruction& insn) { ++insn.k; });
  change([](Instruction& insn) { --insn.k; });
  std::vector<Code> all;
  for (const Instruction& insn : changed) {
    all.push_back(code);
    all.back()[pc] = insn;
    if (!program::check(all.back())) all.pop_back();
  }
  return all;
}

Code mutate(Random& random, const Code& code) {
  for (;;) {
    const std::vector<Code> all = mutants(code, random() % code.size());
    if (!all.empty()) return pick(random, all);
  }
}

Code rewrite(Random& random, const Code& code) {
  Code other = code;
  for (Instruction& insn : other)
    if (random() % 2 == 0) turn(insn);
  rename_scratch(other);
  return with_gap(other, random() % other.size());
}

void for_each_input(std::span<const abi::Word> words, const std::function<bool(const abi::SeccompData&)>& visit) {
  std::vector<std::size_t> digits(words.size());
  abi::SeccompData data{};
  for (;;) {
    if (!visit(data)) return;
    std::size_t at = 0;
    while (at < words.size() && ++digits[at] == kValues.size()) {
      digits[at] = 0;
      abi::write_word(data, words[at++], 0);
    }
    if (at == words.size()) return;
    abi::write_word(data, words[at], kValues[digits[at]]);
  }
}

}  // namespace seccompress::test
