// SPDX-License-Identifier: Apache-2.0
// Input: a node and a word. Output: the word's ranges, its exits' value sets, or the bits it looks at.
// Entries: ranges_of, exits_of, support_of, runs_of.
// Method: walks over the at most four levels of the word; exits_of keeps one summary per visited node.
#include "emit/word_function.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>
#include <unordered_set>

namespace seccompress::emit {
namespace {

using diagram::Node;
using diagram::Piece;
using diagram::Store;

class RangeWalk {
 public:
  RangeWalk(const Store& store, abi::Word word, std::uint32_t support, std::size_t limit)
      : store_(store), first_level_(4 * diagram::rank_of(word)), support_(support), limit_(limit) {}

  bool walk(Node node, int byte, std::uint32_t base) {
    if (byte == 4 || leaves(node)) return append(base, node);
    const unsigned shift = static_cast<unsigned>(24 - 8 * byte);
    const unsigned relevant = (support_ >> shift) & 255U;
    const bool tests_this_byte = store_.level(node) == first_level_ + byte;
    unsigned run = 0;
    for (unsigned value = 0; value < 256; ++value) {
      if ((value & ~relevant) != 0) continue;
      Node child = node;
      if (tests_this_byte) {
        const std::span<const diagram::Run> runs = store_.runs(node);
        while (runs[run].last < value) ++run;
        child = runs[run].node;
      }
      if (!walk(child, byte + 1, base | (value << shift))) return false;
      // The rest of a run that leaves the word is the same range.
      if (tests_this_byte && leaves(child)) value = store_.runs(node)[run].last;
    }
    return true;
  }

  std::vector<Piece> take() {
    pieces_.back().last = 0xffffffffU;
    return std::move(pieces_);
  }

 private:
  bool leaves(Node node) const { return store_.level(node) >= first_level_ + 4; }

  // The range of `exit` starts at `first` or before.
  bool append(std::uint32_t first, Node exit) {
    if (!pieces_.empty() && pieces_.back().node == exit) return true;
    if (!pieces_.empty()) pieces_.back().last = first - 1;
    pieces_.push_back({first, exit});
    return pieces_.size() <= limit_;
  }

  const Store& store_;
  int first_level_;
  std::uint32_t support_;
  std::size_t limit_;
  std::vector<Piece> pieces_;
};

// Visits each node of one word once.
template <class Visit>
void for_each_node(const Store& store, Node node, abi::Word word, Visit visit) {
  const int end = 4 * (diagram::rank_of(word) + 1);
  std::unordered_set<Node> seen;
  std::vector<Node> todo = {node};
  while (!todo.empty()) {
    const Node at = todo.back();
    todo.pop_back();
    if (store.level(at) >= end || !seen.insert(at).second) continue;
    visit(at);
    for (const diagram::Run& run : store.runs(at)) todo.push_back(run.node);
  }
}

// The bits of a byte on which a node's child depends.
unsigned support_of_byte(std::span<const diagram::Run> runs) {
  std::array<Node, 256> child{};
  unsigned value = 0;
  for (const diagram::Run& run : runs)
    for (; value <= run.last; ++value) child[value] = run.node;
  unsigned support = 0;
  for (unsigned bit = 1; bit < 256; bit <<= 1U)
    for (value = 0; value < 256 && (support & bit) == 0; ++value)
      if (child[value] != child[value ^ bit]) support |= bit;
  return support;
}

class ExitWalk {
 public:
  ExitWalk(const Store& store, abi::Word word) : store_(store), first_level_(4 * diagram::rank_of(word)) {}

  // The exits of the block of values below `byte` bytes already chosen.
  const std::vector<ExitValues>& walk(Node node, int byte) {
    const std::uint64_t key = (std::uint64_t{node} << 3U) | static_cast<unsigned>(byte);
    if (const auto known = done_.find(key); known != done_.end()) return known->second;
    return done_[key] = compute(node, byte);
  }

 private:
  std::vector<ExitValues> compute(Node node, int byte) {
    if (store_.level(node) >= first_level_ + 4) {
      const std::uint64_t free_values = std::uint64_t{1} << static_cast<unsigned>(32 - 8 * byte);
      return {{node, 0, static_cast<std::uint32_t>(free_values - 1), free_values}};
    }
    std::vector<ExitValues> sum;
    if (store_.level(node) > first_level_ + byte) {
      add(sum, walk(node, byte + 1), byte, 0, 255);
      return sum;
    }
    unsigned first = 0;
    for (const diagram::Run& run : store_.runs(node)) {
      add(sum, walk(run.node, byte + 1), byte, first, run.last);
      first = run.last + 1U;
    }
    return sum;
  }

  // For all values of the byte from `first` to `last`: below the bits that those two have in common, any occurs.
  static void add(std::vector<ExitValues>& sum, const std::vector<ExitValues>& part, int byte, unsigned first,
                  unsigned last) {
    const auto shift = static_cast<unsigned>(24 - 8 * byte);
    const unsigned open = std::bit_ceil((first ^ last) + 1U) - 1U;
    const std::uint32_t all = (first & ~open) << shift, any = (first | open) << shift;
    const std::uint64_t values = last - first + 1U;
    for (const ExitValues& exit : part) {
      const auto known = std::ranges::find(sum, exit.exit, &ExitValues::exit);
      if (known == sum.end()) {
        sum.push_back({exit.exit, exit.all_ones | all, exit.any_ones | any, values * exit.count});
        continue;
      }
      known->all_ones &= exit.all_ones | all;
      known->any_ones |= exit.any_ones | any;
      known->count += values * exit.count;
    }
  }

  const Store& store_;
  int first_level_;
  std::unordered_map<std::uint64_t, std::vector<ExitValues>> done_;
};

}  // namespace

bool ExitValues::is_cube() const { return count == std::uint64_t{1} << (32 - std::popcount(mask())); }

std::uint32_t support_of(const Store& store, Node node, abi::Word word) {
  std::uint32_t support = 0;
  for_each_node(store, node, word, [&](Node at) {
    support |= support_of_byte(store.runs(at)) << static_cast<unsigned>(24 - 8 * (store.level(at) % 4));
  });
  return support;
}

std::size_t runs_of(const Store& store, Node node, abi::Word word) {
  std::size_t runs = 0;
  for_each_node(store, node, word, [&](Node at) { runs += store.runs(at).size(); });
  return runs;
}

std::optional<std::vector<Piece>> ranges_of(const Store& store, Node node, abi::Word word, std::uint32_t support,
                                            std::size_t limit) {
  RangeWalk walk(store, word, support, limit);
  if (!walk.walk(node, 0, 0)) return std::nullopt;
  return walk.take();
}

std::vector<ExitValues> exits_of(const Store& store, Node node, abi::Word word) {
  return ExitWalk(store, word).walk(node, 0);
}

}  // namespace seccompress::emit
