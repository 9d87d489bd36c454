// SPDX-License-Identifier: Apache-2.0
// Any bytes -> a program and a stack of one to three over a tiny alphabet. Claim: prove() says equal exactly where
// all inputs that the alphabet can tell apart get the same verdict, and the difference it shows is one.
#include <cstdint>
#include <iterator>

#include "support/check.h"
#include "support/tiny_code.h"
#include "verify/verify.h"

namespace {

using namespace seccompress;
using program::Code;

// support/tiny_code.h decides programs with these constants and masks by its inputs.
constexpr std::uint32_t kConstants[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 0x80000000U};
constexpr std::uint32_t kMasks[] = {1, 2, 3, 4, 6, 7, 0x80000000U, 0x80000003U};
constexpr abi::Verdict kVerdicts[] = {abi::kAllow, abi::kErrno | 1, abi::kErrno | 2, abi::kKillProcess};
constexpr abi::Word kWords[] = {abi::kNr, abi::kArch, abi::arg_low(0), abi::arg_high(5)};

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), end_(data + size) {}
  std::uint8_t byte() { return data_ == end_ ? std::uint8_t{0} : *data_++; }
  template <class T, std::size_t N>
  T pick(const T (&choices)[N]) {
    return choices[byte() % N];
  }

 private:
  const std::uint8_t* data_;
  const std::uint8_t* end_;
};

program::Instruction instruction(Input& input, std::span<const abi::Word> words, unsigned left) {
  constexpr unsigned kOrders[] = {BPF_JEQ, BPF_JGE, BPF_JGT};
  switch (input.byte() % 6) {
    case 0: return test::ld(words[input.byte() % words.size()]);
    case 1: return test::alu(BPF_AND, input.pick(kMasks));
    case 2: return test::ret(input.pick(kVerdicts));
    case 3: {
      const std::uint32_t mask = input.pick(kMasks);
      const unsigned jt = input.byte() % left, jf = input.byte() % left;
      return test::jump(BPF_JSET, mask, jt, jf);
    }
    default: {
      const unsigned order = input.pick(kOrders);
      const std::uint32_t constant = input.pick(kConstants);
      const unsigned jt = input.byte() % left, jf = input.byte() % left;
      return test::jump(order, constant, jt, jf);
    }
  }
}

Code code_from(Input& input, std::span<const abi::Word> words) {
  const unsigned length = 1 + input.byte() % 12U;
  Code code = {test::ld(words[input.byte() % words.size()])};
  for (unsigned at = 0; at < length; ++at) code.push_back(instruction(input, words, length - at));
  code.push_back(test::ret(input.pick(kVerdicts)));
  return code;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::uint8_t shape = input.byte();
  const abi::Word words[] = {kWords[shape % 4U], kWords[(shape / 4U % 3U + 1U + shape % 4U) % 4U]};
  const Code flat = code_from(input, words);
  std::vector<Code> stack;
  for (unsigned filters = 1 + shape / 12U % 3U; filters > 0; --filters) stack.push_back(code_from(input, words));
  // Every second input is equal by construction, as far as a stack of one goes.
  if (shape >= 128) stack = {flat};

  verify::Options options;
  options.syscalls = 0;
  const verify::Outcome outcome = verify::prove(flat, stack, options);
  bool differs = false;
  test::for_each_input(words, [&](const abi::SeccompData& call) {
    differs = abi::normalize(program::interpret(flat, call)) != abi::normalize(program::interpret_stack(stack, call));
    return !differs;
  });
  CHECK(std::holds_alternative<program::VerifiedProgram>(outcome) == !differs);
  CHECK(std::holds_alternative<verify::Difference>(outcome) == differs);
  if (const auto* shown = std::get_if<verify::Difference>(&outcome))
    CHECK(abi::normalize(program::interpret(flat, shown->witness)) !=
          abi::normalize(program::interpret_stack(stack, shown->witness)));
  return 0;
}
