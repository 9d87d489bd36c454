// SPDX-License-Identifier: Apache-2.0
// A tiny assembler for tests: one function an instruction, offsets as in struct sock_filter.
//     Code code = {ld(kNr), jeq(59, 0, 1), ret(kErrno | 1), ret(kAllow)};
#pragma once

#include <cstdint>

#include "abi/verdict.h"
#include "abi/word.h"
#include "program/program.h"

namespace seccompress::test {

using program::Code;
using program::Instruction;

constexpr Instruction raw(unsigned code, std::uint32_t k = 0, unsigned jt = 0, unsigned jf = 0) {
  return {static_cast<std::uint16_t>(code), static_cast<std::uint8_t>(jt), static_cast<std::uint8_t>(jf), k};
}

constexpr Instruction ld(abi::Word word) { return raw(BPF_LD | BPF_W | BPF_ABS, 4U * word); }
constexpr Instruction ld_imm(std::uint32_t k) { return raw(BPF_LD | BPF_IMM, k); }
constexpr Instruction ld_len() { return raw(BPF_LD | BPF_W | BPF_LEN); }
constexpr Instruction ld_mem(std::uint32_t cell) { return raw(BPF_LD | BPF_MEM, cell); }
constexpr Instruction ldx_imm(std::uint32_t k) { return raw(BPF_LDX | BPF_IMM, k); }
constexpr Instruction ldx_len() { return raw(BPF_LDX | BPF_W | BPF_LEN); }
constexpr Instruction ldx_mem(std::uint32_t cell) { return raw(BPF_LDX | BPF_MEM, cell); }
constexpr Instruction st(std::uint32_t cell) { return raw(BPF_ST, cell); }
constexpr Instruction stx(std::uint32_t cell) { return raw(BPF_STX, cell); }
constexpr Instruction tax() { return raw(BPF_MISC | BPF_TAX); }
constexpr Instruction txa() { return raw(BPF_MISC | BPF_TXA); }

// op: BPF_ADD, BPF_AND, ...
constexpr Instruction alu(unsigned op, std::uint32_t k) { return raw(BPF_ALU | op | BPF_K, k); }
constexpr Instruction alu_x(unsigned op) { return raw(BPF_ALU | op | BPF_X); }
constexpr Instruction neg() { return raw(BPF_ALU | BPF_NEG); }

constexpr Instruction ja(std::uint32_t offset) { return raw(BPF_JMP | BPF_JA, offset); }
// op: BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET
constexpr Instruction jump(unsigned op, std::uint32_t k, unsigned jt, unsigned jf) {
  return raw(BPF_JMP | op | BPF_K, k, jt, jf);
}
constexpr Instruction jump_x(unsigned op, unsigned jt, unsigned jf) { return raw(BPF_JMP | op | BPF_X, 0, jt, jf); }
constexpr Instruction jeq(std::uint32_t k, unsigned jt, unsigned jf) { return jump(BPF_JEQ, k, jt, jf); }
constexpr Instruction jgt(std::uint32_t k, unsigned jt, unsigned jf) { return jump(BPF_JGT, k, jt, jf); }
constexpr Instruction jge(std::uint32_t k, unsigned jt, unsigned jf) { return jump(BPF_JGE, k, jt, jf); }
constexpr Instruction jset(std::uint32_t k, unsigned jt, unsigned jf) { return jump(BPF_JSET, k, jt, jf); }

constexpr Instruction ret(abi::Verdict verdict) { return raw(BPF_RET | BPF_K, verdict); }
constexpr Instruction ret_a() { return raw(BPF_RET | BPF_A); }

inline abi::SeccompData call(std::uint32_t arch, std::uint32_t nr, std::uint64_t a0 = 0, std::uint64_t a1 = 0) {
  abi::SeccompData data{};
  data.nr = static_cast<int>(nr);
  data.arch = arch;
  data.args[0] = a0;
  data.args[1] = a1;
  return data;
}

inline constexpr std::uint32_t kX8664 = 0xc000003eU, kI386 = 0x40000003U;  // AUDIT_ARCH words

}  // namespace seccompress::test
