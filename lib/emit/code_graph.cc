// SPDX-License-Identifier: Apache-2.0
#include "emit/code_graph.h"

#include <algorithm>

namespace seccompress::emit {
namespace {

constexpr std::uint32_t kHeaviest = 1U << 20;

std::uint32_t sum(std::uint32_t a, std::uint32_t b) { return std::min(kHeaviest, a + b + 1); }

}  // namespace

std::size_t CodeGraph::Hash::operator()(const Op& op) const {
  std::uint64_t hash = (std::uint64_t{op.code} << 32U) ^ op.k;
  hash = hash * 0x9e3779b97f4a7c15ULL ^ ((std::uint64_t{op.yes} << 32U) | op.no);
  hash *= 0xff51afd7ed558ccdULL;
  return hash ^ (hash >> 32U);
}

OpId CodeGraph::intern(const Op& op, std::uint32_t weight, double yes_share) {
  const auto [entry, is_new] = index_.try_emplace(op, static_cast<OpId>(ops_.size()));
  if (is_new) {
    ops_.push_back(op);
    weights_.push_back(weight);
    yes_shares_.push_back(yes_share);
  }
  return entry->second;
}

OpId CodeGraph::ret(abi::Verdict verdict) { return intern({BPF_RET | BPF_K, verdict, 0, 0}, 1); }

OpId CodeGraph::load(abi::Word word, OpId next) {
  return step(BPF_LD | BPF_W | BPF_ABS, std::uint32_t{4} * word, next);
}

OpId CodeGraph::mask(std::uint32_t bits, OpId next) { return step(BPF_ALU | BPF_AND | BPF_K, bits, next); }

OpId CodeGraph::step(std::uint16_t code, std::uint32_t k, OpId next) {
  return intern({code, k, next, 0}, sum(weights_[next], 0));
}

OpId CodeGraph::ret_carried(std::uint16_t code, std::uint32_t k, std::uint32_t cells_set) {
  return intern({code, k, 0, cells_set}, 1);
}

OpId CodeGraph::jump(std::uint16_t operation, std::uint32_t k, OpId yes, OpId no, double yes_share) {
  if (yes == no) return yes;
  const auto code = static_cast<std::uint16_t>(BPF_JMP | BPF_K | operation);
  return intern({code, k, yes, no}, sum(weights_[yes], weights_[no]), yes_share);
}

std::vector<double> CodeGraph::flow(OpId root) const {
  std::vector<double> flow(ops_.size(), 0.0);
  flow[root] = 1.0;
  for (OpId id = root + 1; id-- > 0;) {  // an operation is made after its successors
    const Op& op = ops_[id];
    if (BPF_CLASS(op.code) == BPF_RET) continue;
    flow[op.yes] += flow[id] * yes_shares_[id];
    if (BPF_CLASS(op.code) == BPF_JMP) flow[op.no] += flow[id] * (1.0 - yes_shares_[id]);
  }
  return flow;
}

}  // namespace seccompress::emit
