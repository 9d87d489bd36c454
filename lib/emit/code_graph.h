// SPDX-License-Identifier: Apache-2.0
// The program before it has addresses: a hash-consed graph of operations. An operation means "with A as it
// is, do this, then go there", so two paths may share one whenever they would execute the same code.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "program/program.h"

namespace seccompress::emit {

using OpId = std::uint32_t;

struct Op {
  // BPF_RET|BPF_K, BPF_LD|BPF_W|BPF_ABS, BPF_ALU|BPF_AND|BPF_K, BPF_JMP|{JEQ,JGE,JGT,JSET}|BPF_K; in carried code any
  // that seccomp takes.
  std::uint16_t code;
  std::uint32_t k;
  OpId yes;  // next operation; of a jump, where it goes when the test holds
  OpId no;   // of a jump; of a RET in carried code the scratch words that are set there (emit/carry.cc)
};

class CodeGraph {
 public:
  OpId ret(abi::Verdict verdict);
  OpId load(abi::Word word, OpId next);
  OpId mask(std::uint32_t bits, OpId next);
  OpId step(std::uint16_t code, std::uint32_t k, OpId next);  // any instruction that goes on to the next
  OpId ret_carried(std::uint16_t code, std::uint32_t k, std::uint32_t cells_set);
  // operation: BPF_JEQ, BPF_JGE, BPF_JGT or BPF_JSET, in carried code also with BPF_X. Both targets the same: the
  // target itself. yes_share: how often the test holds, of the times it is made (an estimate, for layout only).
  OpId jump(std::uint16_t operation, std::uint32_t k, OpId yes, OpId no, double yes_share);

  const Op& op(OpId id) const { return ops_[id]; }
  // Instructions below an operation if nothing were shared; saturates.
  std::uint32_t weight(OpId id) const { return weights_[id]; }
  double yes_share(OpId id) const { return yes_shares_[id]; }
  std::size_t size() const { return ops_.size(); }

  // How often each operation is executed, per execution of `root`.
  std::vector<double> flow(OpId root) const;

 private:
  OpId intern(const Op& op, std::uint32_t weight, double yes_share = 1.0);
  struct Hash {
    std::size_t operator()(const Op& op) const;
  };
  struct Equal {
    bool operator()(const Op& a, const Op& b) const {
      return a.code == b.code && a.k == b.k && a.yes == b.yes && a.no == b.no;
    }
  };
  std::vector<Op> ops_;
  std::vector<std::uint32_t> weights_;
  std::vector<double> yes_shares_;
  std::unordered_map<Op, OpId, Hash, Equal> index_;
};

}  // namespace seccompress::emit
