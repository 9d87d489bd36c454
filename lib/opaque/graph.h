// SPDX-License-Identifier: Apache-2.0
// NOUN: code that no diagram holds, as a hash-consed graph of its instructions. An operation means "with A, X and M
// as they are, do this, then go there"; what nothing below reads is not there, and a test whose two ways are the same
// is its way. So equal operations are equal functions; the converse does not hold.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "program/program.h"
#include "support/result.h"

namespace seccompress::opaque {

using OpId = std::uint32_t;

struct Operation {
  std::uint16_t code;  // any that seccomp takes, JA excepted
  std::uint32_t k;
  OpId yes;  // next operation; of a jump, where it goes when the test holds
  OpId no;   // jumps only
  bool operator==(const Operation&) const = default;
};

// What an operation and those below it read before they set it.
inline constexpr std::uint32_t kReadsA = 1U << 16, kReadsX = 1U << 17;
constexpr std::uint32_t reads_cell(std::uint32_t cell) { return 1U << cell; }

// What an instruction that does not jump reads and sets.
struct Effect {
  std::uint32_t reads, sets;
};
Effect effect_of(const program::Instruction& insn);

class Graph {
 public:
  OpId ret(abi::Verdict verdict);  // normalized
  OpId ret_a();
  // LD, LDX, ST, STX, ALU, MISC. What cannot matter is left out.
  OpId step(const program::Instruction& insn, OpId next);
  // code: a conditional jump with K or X.
  OpId jump(std::uint16_t code, std::uint32_t k, OpId yes, OpId no);

  const Operation& operator[](OpId id) const { return operations_[id]; }  // successors have smaller numbers
  std::uint32_t reads(OpId id) const { return reads_[id]; }
  bool is_verdict(OpId id) const { return operations_[id].code == (BPF_RET | BPF_K); }

  // The operations that can be reached, ascending: successors first.
  std::vector<OpId> below(OpId root) const;
  abi::Verdict run(OpId root, const abi::SeccompData& data) const;  // as returned

  // Beyond a limit every operation is KILL_PROCESS and this is Errc::budget.
  Result<void> status() const;

 private:
  struct Hash {
    std::size_t operator()(const Operation& operation) const;
  };
  OpId intern(const Operation& operation, std::uint32_t reads);

  std::vector<Operation> operations_;
  std::vector<std::uint32_t> reads_;
  std::unordered_map<Operation, OpId, Hash> index_;
  bool exhausted_ = false;
};

}  // namespace seccompress::opaque
