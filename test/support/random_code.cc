// SPDX-License-Identifier: Apache-2.0
#include "support/random_code.h"

#include <cstdio>
#include <cstdlib>

#include "support/program_builder.h"

namespace seccompress::test {
namespace {

constexpr std::uint32_t kConstants[] = {0,          1,          2,          3,          6,          7,
                                        59,         256,        0x10000,    0x40000000, 0x40000003, 0x7fffffff,
                                        0x80000000, 0xc000003e, 0xfffffffe, 0xffffffff};
constexpr abi::Verdict kVerdicts[] = {abi::kAllow,       abi::kErrno | 1,  abi::kErrno | 2,
                                      abi::kKillProcess, abi::kKillThread, abi::kLog,
                                      abi::kTrap | 7,    abi::kTrace | 9,  0x00060000U};

template <class T, std::size_t N>
T pick(Random& random, const T (&values)[N], std::size_t limit = N) {
  return values[random() % std::min(limit, N)];
}

abi::Word random_word(Random& random, const CodeShape& shape) {
  if (random() % 3 == 0) return abi::kNr;
  if (shape.many_words) return static_cast<abi::Word>(random() % abi::kWords);
  constexpr abi::Word kFew[] = {abi::kNr, abi::kArch, 4, 5};
  return pick(random, kFew);
}

Instruction random_jump(Random& random, const CodeShape& shape, std::size_t left) {
  constexpr unsigned kOps[] = {BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JSET};
  const std::uint32_t k = pick(random, kConstants, shape.constants);
  const unsigned reach = static_cast<unsigned>(std::min<std::size_t>(left, 255));
  return jump(pick(random, kOps, shape.masks ? 4 : 3), k, static_cast<unsigned>(random() % reach),
              static_cast<unsigned>(random() % reach));
}

}  // namespace

std::uint64_t seed_or(std::uint64_t fallback) {
  const char* text = std::getenv("SEED");
  const std::uint64_t seed = text == nullptr ? fallback : std::strtoull(text, nullptr, 0);
  std::printf("SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

Code random_code(Random& random, const CodeShape& shape) {
  constexpr std::size_t kReturns = 4;
  Code code = {ld(random_word(random, shape))};
  while (code.size() < shape.length) {
    // Jumps may go to any later instruction, the first RETs included.
    const std::size_t left = shape.length - code.size() + kReturns - 1;
    switch (random() % 8) {
      case 0:
      case 1: code.push_back(ld(random_word(random, shape))); break;
      case 2:
        code.push_back(shape.masks ? alu(BPF_AND, pick(random, kConstants, shape.constants))
                                   : ja(static_cast<std::uint32_t>(random() % left)));
        break;
      default: code.push_back(random_jump(random, shape, left)); break;
    }
  }
  for (std::size_t i = 0; i < kReturns; ++i) code.push_back(ret(pick(random, kVerdicts)));
  return code;
}

abi::SeccompData random_data(Random& random, std::span<const Code> codes) {
  abi::SeccompData data{};
  for (abi::Word word = 0; word < abi::kWords; ++word) {
    const Code& code = codes[random() % codes.size()];
    std::uint32_t value = code[random() % code.size()].k;
    switch (random() % 6) {
      case 0: value += 1; break;
      case 1: value -= 1; break;
      case 2: value ^= 1U << (random() % 32); break;
      case 3: value = pick(random, kConstants); break;
      default: break;
    }
    abi::write_word(data, word, value);
  }
  return data;
}

}  // namespace seccompress::test
