// SPDX-License-Identifier: Apache-2.0
// Any bytes -> a stack of one to four accepted programs with any instruction -> raise, merge, emit.
// Claims: the emitted program is accepted, gives some inputs what the stack gives, raises to the same node where no
// code is carried, and verify finds no difference.
#include <cstdint>
#include <cstring>

#include "emit/emit.h"
#include "merge/merge.h"
#include "raise/raise.h"
#include "support/check.h"
#include "support/program_builder.h"
#include "verify/verify.h"

namespace {

using namespace seccompress;
using program::Code;

constexpr std::size_t kMaxPerProgram = 96;
// Budgets of a hundredth of the real ones: an input that needs more says nothing new, and one that takes seconds ends a
// search under sanitizers.
constexpr diagram::Limits kStoreLimits{.edges = std::size_t{1} << 14};
constexpr verify::Options kProofOptions{.limits = {.bdd_nodes = 1U << 13, .cells = 1U << 16, .steps = 500'000},
                                        .syscalls = 512};
constexpr abi::Verdict kVerdicts[] = {abi::kAllow,      abi::kErrno | 1, abi::kErrno | 38, abi::kKillProcess,
                                      abi::kKillThread, abi::kLog,       abi::kTrap | 7,   0x00060000U};

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  std::uint8_t byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  std::uint32_t constant() {
    // Mostly small numbers and single bits: those are what policies compare with.
    const std::uint8_t kind = byte(), value = byte();
    switch (kind % 4) {
      case 0: return value;
      case 1: return 1U << (value % 32U);
      case 2: return 0U - value;
      default: return (std::uint32_t{value} << 24U) | (std::uint32_t{byte()} << 8U) | byte();
    }
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

// X, scratch memory, arithmetic, verdicts that are computed.
program::Instruction computation(Input& input, std::size_t left) {
  constexpr unsigned kOps[] = {BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JSET};
  constexpr unsigned kOperations[] = {BPF_ADD, BPF_SUB, BPF_MUL, BPF_DIV, BPF_AND, BPF_OR, BPF_XOR, BPF_LSH, BPF_RSH};
  const std::uint8_t kind = input.byte();
  const unsigned operation = kOperations[kind / 16U % std::size(kOperations)];
  const auto reach = static_cast<unsigned>(left);
  switch (kind % 16) {
    case 0: return test::tax();
    case 1: return test::txa();
    case 2: return test::st(input.byte() % 3U);
    case 3: return test::stx(input.byte() % 3U);
    case 4: return test::ld_mem(input.byte() % 3U);
    case 5: return test::ldx_mem(input.byte() % 3U);
    case 6: return test::ldx_imm(input.constant());
    case 7: return test::neg();
    case 8: return test::ret_a();
    case 9: return test::alu(operation, input.byte() % 31U + 1U);
    case 10:
    case 11: return test::alu_x(operation);
    default: {
      const unsigned jt = input.byte() % 16U, jf = input.byte() % 16U;
      return test::jump_x(kOps[kind / 16U % 4U], jt % reach, jf % reach);
    }
  }
}

program::Instruction instruction(Input& input, std::size_t left) {
  constexpr unsigned kOps[] = {BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JSET};
  const std::uint8_t kind = input.byte();
  if (kind >= 160) return computation(input, left);
  switch (kind % 8) {
    case 0:
    case 1: return test::ld(static_cast<abi::Word>(input.byte() % abi::kWords));
    case 2: return test::alu(BPF_AND, input.constant());
    case 3: return test::ret(kVerdicts[input.byte() % std::size(kVerdicts)]);
    default: {
      const std::uint32_t k = input.constant();
      const unsigned jt = input.byte() % 16U, jf = input.byte() % 16U;
      const auto reach = static_cast<unsigned>(left);
      return test::jump(kOps[(kind >> 3U) % 4U], k, jt % reach, jf % reach);
    }
  }
}

Code program_from(Input& input) {
  Code code;
  const std::size_t length = 1 + input.byte() % kMaxPerProgram;
  while (code.size() < length && !input.empty()) code.push_back(instruction(input, length - code.size() + 1));
  // Jumps reach at most one past the wanted length; make that exist however early the input ended.
  while (code.size() < length + 2) code.push_back(test::ret(abi::kAllow));
  return code;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  diagram::Store store(kStoreLimits);
  std::vector<Code> stack;
  std::vector<diagram::Node> nodes;
  for (std::size_t layers = 1 + input.byte() % 4U; layers > 0; --layers) {
    stack.push_back(program_from(input));
    if (!program::check(stack.back())) return 0;  // reads scratch memory that is not set
    const auto node = raise::raise(stack.back(), store);
    if (!node) return 0;  // budgets are allowed to end it
    nodes.push_back(*node);
  }
  const auto merged = merge::merge(store, nodes);
  if (!merged) return 0;
  const auto flat = emit::emit(store, *merged);
  if (!flat) return 0;
  CHECK(program::check(*flat));
  for (int i = 0; i < 16; ++i) {
    abi::SeccompData call{};
    for (abi::Word word = 0; word < abi::kWords; ++word) abi::write_word(call, word, input.constant());
    const abi::Verdict expected = abi::normalize(program::interpret_stack(stack, call));
    CHECK(abi::normalize(program::interpret(*flat, call)) == expected);
    CHECK(store.evaluate(*merged, call) == expected);
  }
  const auto back = raise::raise(*flat, store);
  CHECK(!back || store.has_code(*merged) || *back == *merged);
  const verify::Outcome outcome = verify::prove(*flat, stack, kProofOptions);
  CHECK(!std::holds_alternative<verify::Difference>(outcome));
  CHECK(!std::holds_alternative<verify::Unacceptable>(outcome));
  CHECK(!std::holds_alternative<verify::CacheLoss>(outcome));
  return 0;
}
