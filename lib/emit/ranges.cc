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

namespace {

// What most of a chain leads to: the one exit of everything wider than a value. nullopt: there are several.
std::optional<OpId> base_of(const Part& part) {
  std::optional<OpId> base;
  OpId last = 0;
  for (std::size_t at = 0; at < part.ranges.size(); ++at) {
    if (part.is_gone(at)) continue;
    last = part.ranges[at].exit;
    if (part.ranges[at].is_single()) continue;
    if (base && *base != last) return std::nullopt;
    base = last;
  }
  return base ? base : last;
}

}  // namespace

std::optional<Chain> chain_of(const Part& part) {
  const std::optional<OpId> base = base_of(part);
  if (!base) return std::nullopt;
  Chain chain;
  chain.base = *base;
  for (std::size_t at = 0; at < part.ranges.size(); ++at) {
    if (part.is_gone(at) || part.ranges[at].exit == chain.base) continue;
    if (chain.length == kMaxChain) return std::nullopt;
    std::size_t place = chain.length++;
    for (; place > 0 && part.ranges[chain.exceptions.at(place - 1)].weight < part.ranges[at].weight; --place)
      chain.exceptions.at(place) = chain.exceptions.at(place - 1);
    chain.exceptions.at(place) = at;
  }
  double weight = part.weight;
  for (std::size_t test = 0; test < chain.length; ++test) {
    const Range& range = part.ranges[chain.exceptions.at(test)];
    chain.cost += weight * (1.0 + wide(range.first));
    weight -= range.weight;
  }
  return chain;
}

OpId emit_chain(CodeGraph& graph, const Part& part, const Chain& chain) {
  std::array<double, kMaxChain> reaching{};  // how often each test is made
  double weight = part.weight;
  for (std::size_t test = 0; test < chain.length; ++test) {
    reaching.at(test) = weight;
    weight -= part.ranges[chain.exceptions.at(test)].weight;
  }
  OpId rest = chain.base;
  for (std::size_t test = chain.length; test-- > 0;) {
    const Range& range = part.ranges[chain.exceptions.at(test)];
    rest = graph.jump(BPF_JEQ, range.first, range.exit, rest, share(range.weight, reaching.at(test)));
  }
  return rest;
}

}  // namespace seccompress::emit
