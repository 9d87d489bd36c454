// SPDX-License-Identifier: Apache-2.0
// What single classic instructions compute (net/core/filter.c, kernel/bpf/core.c): 32 bits, wrapping, shifts modulo
// 32. Division by 0 is the caller's: it ends the program.
#pragma once

#include <linux/filter.h>

#include <cstdint>

namespace seccompress::opaque {

constexpr std::uint32_t calculate(std::uint32_t operation, std::uint32_t a, std::uint32_t operand) {
  switch (operation) {
    case BPF_ADD: return a + operand;
    case BPF_SUB: return a - operand;
    case BPF_MUL: return a * operand;
    case BPF_DIV: return a / operand;
    case BPF_AND: return a & operand;
    case BPF_OR: return a | operand;
    case BPF_XOR: return a ^ operand;
    case BPF_LSH: return a << (operand & 31U);
    case BPF_RSH: return a >> (operand & 31U);
    default: return 0U - a;  // BPF_NEG
  }
}

constexpr bool holds(std::uint32_t operation, std::uint32_t a, std::uint32_t operand) {
  switch (operation) {
    case BPF_JEQ: return a == operand;
    case BPF_JGE: return a >= operand;
    case BPF_JGT: return a > operand;
    default: return (a & operand) != 0;  // BPF_JSET
  }
}

}  // namespace seccompress::opaque
