// SPDX-License-Identifier: Apache-2.0
// Input: a node and a word. Output: the word's ranges or its exits' value sets. Entries: ranges_of, exits_of.
// Method: walks over the at most four levels of the word; exits_of keeps one summary per visited node.
#include "emit/word_function.h"

#include <bit>
#include <unordered_map>

namespace seccompress::emit {
namespace {

using diagram::Node;
using diagram::Piece;
using diagram::Store;

class RangeWalk {
 public:
  RangeWalk(const Store& store, abi::Word word, std::size_t limit)
      : store_(store), first_level_(4 * diagram::rank_of(word)), limit_(limit) {}

  bool walk(Node node, int byte, std::uint32_t base) {
    const std::uint64_t size = std::uint64_t{1} << static_cast<unsigned>(32 - 8 * byte);
    if (byte == 4 || store_.level(node) >= first_level_ + 4)
      return append(static_cast<std::uint32_t>(base + size - 1), node);
    const unsigned shift = static_cast<unsigned>(24 - 8 * byte);
    const bool tests_this_byte = store_.level(node) == first_level_ + byte;
    unsigned run = 0;
    for (unsigned value = 0; value < 256; ++value) {
      Node child = node;
      if (tests_this_byte) {
        const std::span<const diagram::Run> runs = store_.runs(node);
        while (runs[run].last < value) ++run;
        child = runs[run].node;
        if (store_.level(child) >= first_level_ + 4) value = runs[run].last;  // the whole run is one range
      }
      const std::uint32_t last_base = base | (value << shift);
      if (store_.level(child) >= first_level_ + 4) {
        if (!append(last_base | ((1U << shift) - 1U), child)) return false;
      } else if (!walk(child, byte + 1, last_base)) {
        return false;
      }
    }
    return true;
  }

  std::vector<Piece> take() { return std::move(pieces_); }

 private:
  bool append(std::uint32_t last, Node exit) {
    if (!pieces_.empty() && pieces_.back().node == exit) {
      pieces_.back().last = last;
      return true;
    }
    pieces_.push_back({last, exit});
    return pieces_.size() <= limit_;
  }

  const Store& store_;
  int first_level_;
  std::size_t limit_;
  std::vector<Piece> pieces_;
};

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
      for (unsigned value = 0; value < 256; ++value) add(sum, walk(node, byte + 1), byte, value);
      return sum;
    }
    unsigned value = 0;
    for (const diagram::Run& run : store_.runs(node))
      for (; value <= run.last; ++value) add(sum, walk(run.node, byte + 1), byte, value);
    return sum;
  }

  static void add(std::vector<ExitValues>& sum, const std::vector<ExitValues>& part, int byte, unsigned value) {
    const std::uint32_t bits = value << static_cast<unsigned>(24 - 8 * byte);
    for (const ExitValues& exit : part) {
      ExitValues* known = nullptr;
      for (ExitValues& candidate : sum)
        if (candidate.exit == exit.exit) known = &candidate;
      if (known == nullptr) {
        sum.push_back({exit.exit, exit.all_ones | bits, exit.any_ones | bits, exit.count});
        continue;
      }
      known->all_ones &= exit.all_ones | bits;
      known->any_ones |= exit.any_ones | bits;
      known->count += exit.count;
    }
  }

  const Store& store_;
  int first_level_;
  std::unordered_map<std::uint64_t, std::vector<ExitValues>> done_;
};

}  // namespace

bool ExitValues::is_cube() const { return count == std::uint64_t{1} << (32 - std::popcount(mask())); }

std::optional<std::vector<Piece>> ranges_of(const Store& store, Node node, abi::Word word, std::size_t limit) {
  RangeWalk walk(store, word, limit);
  if (!walk.walk(node, 0, 0)) return std::nullopt;
  return walk.take();
}

std::vector<ExitValues> exits_of(const Store& store, Node node, abi::Word word) {
  return ExitWalk(store, word).walk(node, 0);
}

}  // namespace seccompress::emit
