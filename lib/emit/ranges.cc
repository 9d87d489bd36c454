// SPDX-License-Identifier: Apache-2.0
#include "emit/ranges.h"

namespace seccompress::emit {

double weight_of(std::span<const Range> ranges) {
  double sum = 0;
  for (const Range& range : ranges) sum += range.weight;
  return sum;
}

void join_equal_neighbours(Ranges& ranges) {
  std::size_t kept = 0;
  for (const Range& range : ranges) {
    if (kept > 0 && ranges[kept - 1].exit == range.exit) {
      ranges[kept - 1].last = range.last;
      ranges[kept - 1].weight += range.weight;
    } else {
      ranges[kept++] = range;
    }
  }
  ranges.resize(kept);
}

// A constant with bit 31 costs an extra converted instruction (it is sign extended).
OpId at_least(CodeGraph& graph, std::uint32_t bound, OpId yes, OpId no, double yes_share) {
  if (bound == 0x80000000U) return graph.jump(BPF_JGT, 0x7fffffffU, yes, no, yes_share);
  return graph.jump(BPF_JGE, bound, yes, no, yes_share);
}

std::optional<Chain> chain_of(std::span<const Range> ranges, std::span<const bool> gone, double weight) {
  const auto is_gone = [&](std::size_t at) { return !gone.empty() && gone[at]; };
  Chain chain;
  for (std::size_t at = 0; at < ranges.size(); ++at)
    if (!is_gone(at)) chain.base = ranges[at].exit;
  for (std::size_t at = 0; at < ranges.size(); ++at)
    if (!is_gone(at) && !ranges[at].is_single()) chain.base = ranges[at].exit;
  for (std::size_t at = 0; at < ranges.size(); ++at) {
    if (is_gone(at) || ranges[at].exit == chain.base) continue;
    if (!ranges[at].is_single() || chain.length == kMaxChain) return std::nullopt;
    std::size_t place = chain.length++;
    for (; place > 0 && ranges[chain.exceptions.at(place - 1)].weight < ranges[at].weight; --place)
      chain.exceptions.at(place) = chain.exceptions.at(place - 1);
    chain.exceptions.at(place) = at;
  }
  for (std::size_t test = 0; test < chain.length; ++test) {
    chain.cost += weight;
    weight -= ranges[chain.exceptions.at(test)].weight;
  }
  return chain;
}

OpId emit_chain(CodeGraph& graph, std::span<const Range> ranges, const Chain& chain, double weight) {
  std::array<double, kMaxChain> reaching{};  // how often each test is made
  for (std::size_t test = 0; test < chain.length; ++test) {
    reaching.at(test) = weight;
    weight -= ranges[chain.exceptions.at(test)].weight;
  }
  OpId rest = chain.base;
  for (std::size_t test = chain.length; test-- > 0;) {
    const Range& range = ranges[chain.exceptions.at(test)];
    rest = graph.jump(BPF_JEQ, range.first, range.exit, rest, range.weight / reaching.at(test));
  }
  return rest;
}

}  // namespace seccompress::emit
