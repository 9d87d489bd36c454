// SPDX-License-Identifier: Apache-2.0
// Input: a node whose first test is of an argument. Output: its exits with their values in words. Entry: exits_of.
//
// Method: one pass over the at most eight levels of the value sums up each exit (count, bits that are set in all and
// in any of its values), which shows sets of the form v & mask == x. Other sets are tried as a few intervals, then as
// the few values of v & mask, mask being the bits that matter; the largest exit is what the others leave.
//
// Weakness: a set that is none of these (many intervals on many bits) is only said to be "some values of".
#include "explain/argument.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <map>
#include <optional>

namespace seccompress::explain {
namespace {

using diagram::Node;
using diagram::Store;

constexpr std::uint8_t kFirstLevel = 8;     // arch and nr come before
constexpr std::size_t kMaxIntervals = 12;   // shown as one set
constexpr int kMaxMaskBits = 8;             // values of v & mask that are tried
constexpr std::size_t kMaxListedExits = 8;  // in "none of"

std::uint8_t level_of_value(unsigned value) { return static_cast<std::uint8_t>(kFirstLevel + 8 * value); }
unsigned shift_of(std::uint8_t level) { return 56U - 8U * (level % 8U); }

struct Interval {
  std::uint64_t first, last;
};

struct Bits {
  std::uint64_t all_ones = UINT64_MAX, any_ones = 0, count = 0, smallest = UINT64_MAX;
  void add(const Bits& other) {
    all_ones &= other.all_ones;
    any_ones |= other.any_ones;
    count += other.count;
    smallest = std::min(smallest, other.smallest);
  }
  std::uint64_t mask() const { return ~(all_ones ^ any_ones); }
  bool is_cube() const {
    return std::popcount(mask()) > 0 && count == std::uint64_t{1} << (64 - std::popcount(mask()));
  }
};

class ValueWalk {
 public:
  ValueWalk(const Store& store, Node node)
      : store_(store), root_(node), value_(first_value(store, node)), end_(level_of_value(value_ + 1)) {}

  std::vector<Exit> exits() {
    const std::map<Node, Bits> found = summary(root_, level_of_value(value_));
    std::vector<std::pair<Node, Bits>> order(found.begin(), found.end());
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
      return a.second.count != b.second.count ? a.second.count < b.second.count : a.second.smallest < b.second.smallest;
    });
    std::vector<Exit> exits;
    for (const auto& [node, bits] : order) exits.push_back({node, bits.smallest, bits.count, text_of(node, bits)});
    name_the_rest(exits, order.front().second);
    return exits;
  }

 private:
  bool leaves(Node node) const { return store_.level(node) >= end_; }

  // Of the value's bytes from `level` on.
  std::map<Node, Bits> summary(Node node, std::uint8_t level) {
    if (leaves(node)) return {{node, whole(level)}};
    const std::uint8_t at = store_.level(node);
    auto known = known_.find(node);
    if (known == known_.end()) known = known_.emplace(node, of_runs(node, at)).first;
    std::map<Node, Bits> result = known->second;
    for (std::uint8_t skipped = level; skipped < at; ++skipped)
      for (auto& [exit, bits] : result) {
        bits.any_ones |= std::uint64_t{255} << shift_of(skipped);
        bits.count <<= 8;
      }
    return result;
  }

  std::map<Node, Bits> of_runs(Node node, std::uint8_t level) {
    std::map<Node, Bits> result;
    unsigned first = 0;
    for (const diagram::Run& run : store_.runs(node)) {
      const std::map<Node, Bits> below = summary(run.node, static_cast<std::uint8_t>(level + 1));
      std::uint64_t all = 255, any = 0;
      for (unsigned byte = first; byte <= run.last; ++byte) all &= byte, any |= byte;
      for (const auto& [exit, bits] : below)
        result[exit].add({bits.all_ones | all << shift_of(level), bits.any_ones | any << shift_of(level),
                          bits.count * (run.last - first + 1U),
                          bits.smallest | std::uint64_t{first} << shift_of(level)});
      first = run.last + 1U;
    }
    return result;
  }

  // All values of the bytes from `level` on. 64 bits of them do not occur: the root tests something.
  Bits whole(std::uint8_t level) const {
    const unsigned width = 8U * (end_ - level);
    const std::uint64_t ones = width == 0 ? 0 : UINT64_MAX >> (64 - width);
    return {0, ones, std::uint64_t{1} << width, 0};
  }

  std::string text_of(Node exit, const Bits& bits) const {
    if (bits.is_cube()) return cube_text(bits, " == ");
    if (auto text = interval_text(exit)) return *text;
    if (auto text = masked_text(exit)) return *text;
    return "some values of " + masked_name(support());
  }

  // The largest exit is what the others leave, unless it has short words of its own.
  void name_the_rest(std::vector<Exit>& exits, const Bits& smallest) const {
    Exit& rest = exits.back();
    if (exits.size() == 2 && smallest.is_cube()) {
      rest.text = cube_text(smallest, " != ");
      return;
    }
    const bool plain = rest.text.find("some values") == std::string::npos && rest.text.size() < 24;
    if (plain || exits.size() - 1 > kMaxListedExits) return;
    std::string others;
    for (std::size_t i = 0; i + 1 < exits.size(); ++i) others += (i > 0 ? " or " : "") + exits[i].text;
    if (others.find("some values") == std::string::npos) rest.text = "not (" + others + ")";
  }

  std::string name() const { return value_name(value_); }

  std::string masked_name(std::uint64_t mask) const {
    if (mask == UINT64_MAX) return name();
    return mask == UINT32_MAX ? name() + ".lo" : name() + " & " + number_text(mask);
  }

  std::string cube_text(const Bits& bits, const char* comparison) const {
    return masked_name(bits.mask()) + comparison + number_text(bits.all_ones & bits.mask());
  }

  // "a0 in {0, 8..0xf}". The bytes above the root's are free, then: only the low ones count.
  std::optional<std::string> interval_text(Node exit) const {
    std::vector<Interval> intervals;
    const std::uint8_t top = store_.level(root_);
    if (!collect(root_, top, 0, exit, intervals)) return std::nullopt;
    const std::uint64_t mask = UINT64_MAX >> (8U * (top % 8U));
    return set_text(masked_name(mask), intervals, mask);
  }

  static std::string set_text(const std::string& name, const std::vector<Interval>& intervals, std::uint64_t largest) {
    if (intervals.size() == 1) {
      const auto [first, last] = intervals.front();
      if (first == last) return name + " == " + number_text(first);
      if (last == largest) return name + " >= " + number_text(first);
      if (first == 0) return name + " <= " + number_text(last);
    }
    std::string text;
    for (const auto& [first, last] : intervals)
      text += (text.empty() ? "" : ", ") + number_text(first) + (first == last ? "" : ".." + number_text(last));
    return name + " in {" + text + "}";
  }

  // False: more than kMaxIntervals. `node` tests the value.
  bool collect(Node node, std::uint8_t level, std::uint64_t base, Node exit, std::vector<Interval>& intervals) const {
    if (store_.level(node) != level) return false;  // the same again for each of 256 values
    unsigned first = 0;
    for (const diagram::Run& run : store_.runs(node)) {
      const auto next = static_cast<std::uint8_t>(level + 1);
      if (leaves(run.node)) {
        const std::uint64_t from = base | std::uint64_t{first} << shift_of(level);
        if (run.node == exit) join(intervals, from, run_end(base, run.last, level));
      } else {
        for (unsigned byte = first; byte <= run.last; ++byte)
          if (!collect(run.node, next, base | std::uint64_t{byte} << shift_of(level), exit, intervals)) return false;
      }
      if (intervals.size() > kMaxIntervals) return false;
      first = run.last + 1U;
    }
    return true;
  }

  static std::uint64_t run_end(std::uint64_t base, unsigned last, std::uint8_t level) {
    const unsigned shift = shift_of(level);
    return base | std::uint64_t{last} << shift | ((std::uint64_t{1} << shift) - 1);
  }
  static void join(std::vector<Interval>& intervals, std::uint64_t first, std::uint64_t last) {
    if (!intervals.empty() && intervals.back().last + 1 == first)
      intervals.back().last = last;
    else
      intervals.push_back({first, last});
  }

  // Bits of the value on which the exit depends.
  std::uint64_t support() const {
    std::uint64_t bits = 0;
    std::vector<Node> todo{root_};
    std::map<Node, bool> seen{{root_, true}};
    while (!todo.empty()) {
      const Node node = todo.back();
      todo.pop_back();
      bits |= support_of_byte(node) << shift_of(store_.level(node));
      for (const diagram::Run& run : store_.runs(node))
        if (!leaves(run.node) && seen.emplace(run.node, true).second) todo.push_back(run.node);
    }
    return bits;
  }

  std::uint64_t support_of_byte(Node node) const {
    std::array<Node, 256> child{};
    unsigned value = 0;
    for (const diagram::Run& run : store_.runs(node))
      for (; value <= run.last; ++value) child[value] = run.node;
    std::uint64_t bits = 0;
    for (unsigned bit = 1; bit < 256; bit <<= 1)
      for (value = 0; value < 256; ++value)
        if (child[value] != child[value ^ bit]) bits |= bit;
    return bits;
  }

  Node exit_at(std::uint64_t value) const {
    Node node = root_;
    while (!leaves(node)) {
      const unsigned byte = value >> shift_of(store_.level(node)) & 255U;
      const auto runs = store_.runs(node);
      node = std::find_if(runs.begin(), runs.end(), [&](const diagram::Run& run) { return run.last >= byte; })->node;
    }
    return node;
  }

  // "a2 & 0x6 in {0, 4}"
  std::optional<std::string> masked_text(Node exit) const {
    const std::uint64_t mask = support();
    if (std::popcount(mask) > kMaxMaskBits) return std::nullopt;
    std::vector<Interval> values;
    std::uint64_t value = 0;
    do {
      if (exit_at(value) == exit) values.push_back({value, value});
      value = (value - mask) & mask;  // the next larger subset of the mask's bits
    } while (value != 0);
    if (values.size() > kMaxIntervals) return std::nullopt;
    return set_text(masked_name(mask), values, mask);
  }

  const Store& store_;
  Node root_;
  unsigned value_;
  std::uint8_t end_;
  std::map<Node, std::map<Node, Bits>> known_;
};

}  // namespace

std::string value_name(unsigned value) {
  return value == kInstructionPointer ? std::string("ip") : "a" + std::to_string(value);
}

std::string number_text(std::uint64_t value) {
  std::array<char, 24> digits{};
  const bool small = value < 10;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, small ? 10 : 16).ptr;
  return (small ? "" : "0x") + std::string(digits.data(), end);
}

std::uint64_t read_value(const abi::SeccompData& data, unsigned value) {
  return value == kInstructionPointer ? data.instruction_pointer : data.args[value];
}

void write_value(abi::SeccompData& data, unsigned value, std::uint64_t number) {
  (value == kInstructionPointer ? data.instruction_pointer : data.args[value]) = number;
}

unsigned first_value(const Store& store, Node node) {
  return store.is_terminal(node) ? kValues : (store.level(node) - kFirstLevel) / 8U;
}

std::vector<Exit> exits_of(const Store& store, Node node) { return ValueWalk(store, node).exits(); }

Node node_of_call(const Store& store, Node root, std::uint32_t arch, std::uint32_t nr) {
  const std::uint64_t words = std::uint64_t{arch} << 32 | nr;
  Node node = root;
  while (!store.is_terminal(node) && store.level(node) < kFirstLevel) {
    const unsigned byte = words >> shift_of(store.level(node)) & 255U;
    const auto runs = store.runs(node);
    node = std::find_if(runs.begin(), runs.end(), [&](const diagram::Run& run) { return run.last >= byte; })->node;
  }
  return node;
}

}  // namespace seccompress::explain
