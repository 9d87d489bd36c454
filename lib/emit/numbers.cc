// SPDX-License-Identifier: Apache-2.0
// Input: weighted ranges of nr with exits. Output: a search. Entry: dispatch_numbers().
//
// Method: x32 calls are native numbers with bit 30 set (arch/x86/include/asm/unistd.h __X32_SYSCALL_BIT), and most
// policies answer both alike. So the native half is built first; the x32 half is a search over what differs, whose
// other exit takes the bit away and runs the native search; and the test of the bit is put where the native search ends
// for high numbers, which costs native calls nothing. Jumps only go forward, so the tests on the way to that place
// exist twice, all others once. Where this saves nothing the whole space is one search.
//
// Weakness: an x32 call passes two searches.
#include "emit/numbers.h"

#include <algorithm>
#include <utility>

#include "abi/arch.h"

namespace seccompress::emit {
namespace {

constexpr std::uint32_t kBit = abi::kX32Bit;
constexpr std::size_t kTwice = 8;  // about as many tests exist twice when halves share code

// The part of the ranges in [first, last], cut there. Weights are not divided: the cut ones are unnamed numbers.
Ranges cut(const Ranges& ranges, std::uint32_t first, std::uint32_t last) {
  Ranges part;
  for (const Range& range : ranges) {
    if (range.last < first || range.first > last) continue;
    part.push_back(range);
    part.back().first = std::max(range.first, first);
    part.back().last = std::min(range.last, last);
  }
  return part;
}

// The x32 half: what the native half would answer goes to `native`, everything else to its own exit.
class X32Half {
 public:
  X32Half(const Ranges& low, const Ranges& high, OpId native) : low_(low), native_(native) {
    for (const Range& range : high) add(range);
    keep_own_exit_between_equals();
    join_equal_neighbours(parts_);
  }
  Ranges take() { return std::move(parts_); }

 private:
  // Pieces of one range, where its exit is the native half's and where it is not.
  void add(const Range& range) {
    if (range.first >= 2 * kBit) {
      append(range, range.exit);
      return;
    }
    std::uint32_t first = range.first;
    while (true) {
      while (low_[at_].last < first - kBit) ++at_;
      Range piece = range;
      piece.first = first;
      if (low_[at_].last < std::min(range.last, 2 * kBit - 1) - kBit) piece.last = low_[at_].last + kBit;
      append(piece, low_[at_].exit == range.exit ? native_ : range.exit);
      if (piece.last == range.last) return;
      first = piece.last + 1;
    }
  }
  void append(Range piece, OpId exit) {
    own_.push_back(piece.exit);
    piece.exit = exit;
    parts_.push_back(piece);
  }
  // A part between two that have its exit for their own needs no test of its own.
  void keep_own_exit_between_equals() {
    for (std::size_t i = parts_.size(); i-- > 1;) {
      const bool above = i + 1 == parts_.size() || parts_[i + 1].exit == own_[i];
      if (parts_[i].exit == native_ && above && parts_[i - 1].exit == own_[i]) parts_[i].exit = own_[i];
    }
  }

  const Ranges& low_;
  OpId native_;
  std::size_t at_ = 0;
  Ranges parts_;
  std::vector<OpId> own_;  // exits of the parts as the ranges have them
};

// `search` with `high` as the answer to numbers that have the bit. All its bounds are below the bit.
OpId with_high_numbers(CodeGraph& graph, OpId search, OpId high) {
  const Op op = graph.op(search);
  if (BPF_CLASS(op.code) != BPF_JMP) return graph.jump(BPF_JGE, kBit, high, search, 0.01);
  const double yes_share = graph.yes_share(search);
  if (BPF_OP(op.code) == BPF_JEQ)
    return graph.jump(BPF_JEQ, op.k, op.yes, with_high_numbers(graph, op.no, high), yes_share);
  return graph.jump(BPF_OP(op.code), op.k, with_high_numbers(graph, op.yes, high), op.no, yes_share);
}

}  // namespace

Found dispatch_numbers(CodeGraph& graph, Ranges ranges, Search kind) {
  Ranges low = cut(ranges, 0, kBit - 1);
  const Ranges high = cut(ranges, kBit, 0xffffffffU);
  const std::size_t different = X32Half(low, high, ~OpId{0}).take().size();
  if (high.size() <= different + kTwice) return dispatch(graph, std::move(ranges), kind);
  const Ranges native_half = low;
  low.back().last = 0xffffffffU;
  const Found native = dispatch(graph, std::move(low), kind);
  const OpId masked = graph.mask(~kBit, native.root);
  const Found x32 = dispatch(graph, X32Half(native_half, high, masked).take(), Search::small);
  return {with_high_numbers(graph, native.root, x32.root), native.cost};
}

}  // namespace seccompress::emit
