// SPDX-License-Identifier: Apache-2.0
// Input: verdicts, word tests, stacks of functions. Output: canonical nodes. Entry: class Store.
//
// Method: a hash-consed multi-valued decision diagram over bytes (store.h says why). All operations are
// memoized recursions whose depth is bounded by kLevels (64).
//
// Weaknesses: relations between words (a0 == a1) have no small diagram and run into the edge limit; the memo
// table overwrites on collision, so a hostile diagram can cost time, never correctness, and the edge limit
// bounds that time.
#include "diagram/store.h"

#include <malloc.h>

#include <algorithm>
#include <array>

#include "abi/arch.h"
#include "support/check.h"

namespace seccompress::diagram {
namespace {

constexpr std::size_t kInitialTable = 1U << 12;
constexpr std::size_t kMaxMemo = 1U << 19;
constexpr std::size_t kMuch = 1U << 16;  // runs: half a MiB, and as much in tables

// Memo kinds: stack and if_then_else share one table.
constexpr std::uint32_t kStackKey = 0xffffffffU;  // in place of the third operand

std::uint64_t mix(std::uint64_t x) {  // splitmix64's finalizer
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9ULL;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebULL;
  return x ^ (x >> 31);
}

std::uint32_t hash_runs(std::uint8_t level, std::span<const Run> runs) {
  std::uint64_t hash = 0x9e3779b97f4a7c15ULL * (level + 1U);
  for (const Run& run : runs)
    hash = (hash ^ ((std::uint64_t{run.node} << 8U) | run.last)) * 0xff51afd7ed558ccdULL + (hash >> 29U);
  return static_cast<std::uint32_t>(mix(hash));
}

// The runs of one node under construction: at most 256, so no allocation.
class RunBuffer {
 public:
  void append(unsigned last, Node node) {
    if (count_ > 0 && runs_[count_ - 1].node == node)
      runs_[count_ - 1].last = static_cast<std::uint8_t>(last);
    else
      runs_[count_++] = {static_cast<std::uint8_t>(last), node};
  }
  std::span<const Run> view() const { return {runs_.data(), count_}; }

 private:
  std::array<Run, 256> runs_;  // left uninitialized: only count_ of them are read
  std::size_t count_ = 0;
};

// One byte of (word & mask) compared with a constant: `equal` goes on with the next byte.
struct ByteTest {
  unsigned mask, value;
  Node below, equal, above;  // outcomes
};

void append_byte_test(RunBuffer& runs, const ByteTest& test) {
  if (test.mask == 255) {
    if (test.value > 0) runs.append(test.value - 1, test.below);
    runs.append(test.value, test.equal);
    if (test.value < 255) runs.append(255, test.above);
    return;
  }
  for (unsigned v = 0; v < 256; ++v) {
    const unsigned masked = v & test.mask;
    runs.append(v, masked == test.value ? test.equal : masked < test.value ? test.below : test.above);
  }
}

}  // namespace

int rank_of(abi::Word word) {
  if (word == abi::kArch) return 0;
  if (word == abi::kNr) return 1;
  if (word == abi::kIpHigh) return 14;
  if (word == abi::kIpLow) return 15;
  const int argument = (word - abi::kArgs) / 2;
  return 2 + 2 * argument + (word == abi::arg_high(static_cast<unsigned>(argument)) ? 0 : 1);
}

abi::Word word_at(int rank) {
  static constexpr std::array<abi::Word, abi::kWords> kOrder = {
      abi::kArch, abi::kNr, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14, abi::kIpHigh, abi::kIpLow};
  return kOrder.at(static_cast<std::size_t>(rank));
}

Store::Store(Limits limits) : limits_(limits), table_(kInitialTable, 0), memo_(kInitialTable) {
  kill_process_ = terminal(abi::kKillProcess);
  allow_ = terminal(abi::kAllow);
}

Result<void> Store::status() const {
  TRY(leaves_.graph().status());
  if (!exhausted_) return {};
  return failure(Errc::budget, "more than " + std::to_string(limits_.edges) +
                                   " diagram edges are needed: too many different argument tests");
}

Node Store::exhaust() {
  exhausted_ = true;
  return kill_process_;
}

Node Store::terminal(abi::Verdict verdict) {
  const abi::Verdict normal = abi::normalize(verdict);
  const auto [entry, is_new] = terminals_.try_emplace(normal, static_cast<Node>(nodes_.size()));
  if (is_new) nodes_.push_back({normal, 0, 0, kTerminalLevel});
  return entry->second;
}

// ---- Carried code ----------------------------------------------------------------------------------------

Node Store::carried(opaque::OpId root) { return leaf_terminal({{true, root}}); }

Node Store::leaf_terminal(const opaque::Items& items) {
  if (items.empty()) return allow_;
  if (items.size() == 1 && !items[0].is_code) return terminal(items[0].value);
  const bool is_verdict = items.size() == 1 && leaves_.graph().is_verdict(items[0].value);
  if (is_verdict) return terminal(leaves_.graph()[items[0].value].k);
  const opaque::LeafId leaf = leaves_.file(items);
  const auto [entry, is_new] = code_terminals_.try_emplace(leaf, static_cast<Node>(nodes_.size()));
  if (is_new) nodes_.push_back({leaf, 0, 1, kTerminalLevel});
  return entry->second;
}

opaque::Items Store::items_of(Node node) const {
  if (is_code(node)) return leaves_[leaf(node)];
  return {{false, verdict(node)}};
}

abi::Verdict Store::verdict(Node node) const {
  CHECK(!is_code(node));
  return nodes_[node].first;
}

// ---- Hash-consing ---------------------------------------------------------------------------------------

Node Store::make(std::uint8_t level, std::span<const Run> runs) {
  if (exhausted_) return kill_process_;
  CHECK(!runs.empty() && runs.back().last == 255);
  if (runs.size() == 1) return runs.front().node;
  return lookup(level, runs);
}

Node Store::lookup(std::uint8_t level, std::span<const Run> runs) {
  const std::uint32_t hash = hash_runs(level, runs);
  std::size_t slot = hash & (table_.size() - 1);
  for (; table_[slot] != 0; slot = (slot + 1) & (table_.size() - 1)) {
    const Record& record = nodes_[table_[slot] - 1];
    if (record.hash == hash && record.level == level && record.count == runs.size() &&
        std::equal(runs.begin(), runs.end(), runs_.begin() + record.first))
      return table_[slot] - 1;
  }
  if (runs_.size() + runs.size() > limits_.edges) return exhaust();
  const Node node = static_cast<Node>(nodes_.size());
  nodes_.push_back({static_cast<std::uint32_t>(runs_.size()), hash, static_cast<std::uint16_t>(runs.size()), level});
  runs_.insert(runs_.end(), runs.begin(), runs.end());
  table_[slot] = node + 1;
  if (nodes_.size() * 2 > table_.size()) grow_table();
  return node;
}

void Store::grow_table() {
  make_table(table_.size() * 4);
  if (memo_.size() < kMaxMemo) memo_.assign(std::min(kMaxMemo, table_.size()), {});
}

void Store::make_table(std::size_t size) {
  table_.assign(size, 0);
  for (Node node = 0; node < nodes_.size(); ++node) {
    if (is_terminal(node)) continue;
    std::size_t slot = nodes_[node].hash & (table_.size() - 1);
    while (table_[slot] != 0) slot = (slot + 1) & (table_.size() - 1);
    table_[slot] = node + 1;
  }
}

void Store::forget_since(Mark mark) {
  if (runs_.size() - mark.runs < kMuch) return;
  nodes_.resize(mark.nodes);
  nodes_.shrink_to_fit();
  runs_.resize(mark.runs);
  runs_.shrink_to_fit();
  std::erase_if(terminals_, [&](const auto& entry) { return entry.second >= mark.nodes; });
  std::erase_if(code_terminals_, [&](const auto& entry) { return entry.second >= mark.nodes; });
  std::size_t size = kInitialTable;
  while (nodes_.size() * 2 > size) size *= 4;
  table_ = {}, memo_ = {};
  make_table(size);
  memo_.resize(std::min(kMaxMemo, size));
  ::malloc_trim(0);  // the allocator would keep it, in pieces that fit no table
}

Store::Memo& Store::memo_slot(Node a, Node b, Node c) {
  const std::uint64_t key = mix(((std::uint64_t{a} << 32U) | b) ^ (std::uint64_t{c} * 0x9e3779b97f4a7c15ULL));
  return memo_[key & (memo_.size() - 1)];
}

// ---- Selecting by the value of a word ---------------------------------------------------------------------

// Builds the block of values [base, base + 2^(32 - 8 * byte) - 1]; `next` is the piece that holds base and
// is moved on to the piece that holds the block's last value.
Node Store::select_block(int rank, int byte, std::uint32_t base, std::span<const Piece> pieces, std::size_t& next) {
  const unsigned shift = static_cast<unsigned>(24 - 8 * byte);
  RunBuffer runs;
  for (unsigned value = 0; value < 256;) {
    const std::uint32_t first = base | (value << shift);
    const std::uint32_t last_of_byte = first | ((1U << shift) - 1U);
    while (pieces[next].last < first) ++next;
    if (pieces[next].last < last_of_byte) {
      runs.append(value, select_block(rank, byte + 1, first, pieces, next));
      ++value;
      continue;
    }
    // The piece covers this byte value whole, and perhaps the following ones.
    const std::uint64_t covered = (std::uint64_t{pieces[next].last} + 1 - base) >> shift;
    const unsigned end = static_cast<unsigned>(std::min<std::uint64_t>(256, covered));
    runs.append(end - 1, pieces[next].node);
    value = end;
  }
  return make(static_cast<std::uint8_t>(4 * rank + byte), runs.view());
}

Node Store::select(abi::Word word, std::span<const Piece> pieces) {
  CHECK(!pieces.empty() && pieces.back().last == 0xffffffffU);
  const int rank = rank_of(word);
  const bool ordered = std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
    return level(piece.node) >= 4 * (rank + 1);  // terminals are at 255
  });
  if (ordered) {
    std::size_t next = 0;
    return select_block(rank, 0, 0, pieces, next);
  }
  Node result = pieces.back().node;
  for (std::size_t i = pieces.size() - 1; i-- > 0;)
    result = test(word, 0xffffffffU, Compare::gt, pieces[i].last, result, pieces[i].node);
  return result;
}

// ---- Tests -------------------------------------------------------------------------------------------------

Node Store::build_predicate(int rank, std::uint32_t mask, Compare compare, std::uint32_t value) {
  const Node yes = allow_, no = kill_process_;
  Node result = compare == Compare::eq || compare == Compare::ge ? yes : no;  // all bytes equal
  for (int byte = 3; byte >= 0; --byte) {
    const unsigned shift = static_cast<unsigned>(24 - 8 * byte);
    const unsigned mask_byte = (mask >> shift) & 255U, value_byte = (value >> shift) & 255U;
    RunBuffer runs;
    if (compare == Compare::set) {
      if ((mask_byte & value_byte) == 0) continue;
      append_byte_test(runs, {mask_byte & value_byte, 0, yes, result, yes});
    } else {
      append_byte_test(runs, {mask_byte, value_byte, no, result, compare == Compare::eq ? no : yes});
    }
    result = make(static_cast<std::uint8_t>(4 * rank + byte), runs.view());
  }
  return result;
}

Node Store::test(abi::Word word, std::uint32_t mask, Compare compare, std::uint32_t value, Node yes, Node no) {
  return if_then_else(build_predicate(rank_of(word), mask, compare, value), yes, no);
}

Node Store::if_then_else(Node predicate, Node yes, Node no) {
  if (exhausted_) return kill_process_;
  if (yes == no || predicate == allow_) return yes;
  if (predicate == kill_process_) return no;
  Memo& known = memo_slot(predicate, yes, no);
  if (known.a == predicate && known.b == yes && known.c == no) return known.result;
  const std::uint8_t at = std::min({level(predicate), level(yes), level(no)});
  Cursor p(*this, predicate, at), y(*this, yes, at), n(*this, no, at);
  RunBuffer runs;
  for (unsigned last = 0; last < 255;) {
    last = std::min({p.last(*this), y.last(*this), n.last(*this)});
    const Node child = if_then_else(p.node(*this), y.node(*this), n.node(*this));
    runs.append(last, child);
    p.pass(*this, last), y.pass(*this, last), n.pass(*this, last);
    if (last == 255) break;
  }
  const Node result = make(at, runs.view());
  memo_slot(predicate, yes, no) = {predicate, yes, no, result};
  return result;
}

Node Store::stack(Node newer, Node older) {
  if (exhausted_) return kill_process_;
  if (newer == older || older == allow_ || newer == kill_process_) return newer;
  if (newer == allow_ || older == kill_process_) return older;
  if (is_terminal(newer) && is_terminal(older)) {
    if (is_code(newer) || is_code(older)) return leaf_terminal(leaves_.stack(items_of(newer), items_of(older)));
    return terminal(abi::stack(verdict(newer), verdict(older)));
  }
  Memo& known = memo_slot(newer, older, kStackKey);
  if (known.a == newer && known.b == older && known.c == kStackKey) return known.result;
  const std::uint8_t at = std::min(level(newer), level(older));
  Cursor n(*this, newer, at), o(*this, older, at);
  RunBuffer runs;
  for (unsigned last = 0; last < 255;) {
    last = std::min(n.last(*this), o.last(*this));
    runs.append(last, stack(n.node(*this), o.node(*this)));
    n.pass(*this, last), o.pass(*this, last);
    if (last == 255) break;
  }
  const Node result = make(at, runs.view());
  memo_slot(newer, older, kStackKey) = {newer, older, kStackKey, result};
  return result;
}

// ---- Cursor: the runs of a node as seen from one level --------------------------------------------------------

Store::Cursor::Cursor(const Store& store, Node node, std::uint8_t level) : whole_(node), next_(0), end_(0) {
  if (store.level(node) != level) return;
  next_ = store.nodes_[node].first;
  end_ = next_ + store.nodes_[node].count;
}
unsigned Store::Cursor::last(const Store& store) const { return next_ == end_ ? 255U : store.runs_[next_].last; }
Node Store::Cursor::node(const Store& store) const { return next_ == end_ ? whole_ : store.runs_[next_].node; }
void Store::Cursor::pass(const Store& store, unsigned last) {
  if (next_ + 1 < end_ && store.runs_[next_].last == last) ++next_;
}

// ---- Reading ---------------------------------------------------------------------------------------------------

abi::Verdict Store::evaluate(Node node, const abi::SeccompData& data) const {
  while (!is_terminal(node)) {
    const std::uint32_t word = abi::read_word(data, word_at(level(node) / 4));
    const unsigned byte = (word >> static_cast<unsigned>(24 - 8 * (level(node) % 4))) & 255U;
    const std::span<const Run> all = runs(node);
    node = std::ranges::lower_bound(all, byte, {}, &Run::last)->node;
  }
  return is_code(node) ? leaves_.evaluate(leaf(node), data) : verdict(node);
}

std::vector<Node> Store::terminals_of(Node node) const {
  std::vector<Node> found;
  std::vector<bool> seen(nodes_.size(), false);
  std::vector<Node> todo = {node};
  while (!todo.empty()) {
    const Node at = todo.back();
    todo.pop_back();
    if (seen[at]) continue;
    seen[at] = true;
    if (is_terminal(at)) found.push_back(at);
    for (const Run& run : runs(at)) todo.push_back(run.node);
  }
  return found;
}

bool Store::has_code(Node node) const {
  if (code_terminals_.empty()) return false;
  const std::vector<Node> all = terminals_of(node);
  return std::any_of(all.begin(), all.end(), [&](Node at) { return is_code(at); });
}

std::optional<std::vector<abi::Verdict>> Store::verdicts(Node node) const {
  std::vector<abi::Verdict> found;
  for (const Node at : terminals_of(node)) {
    const auto some = is_code(at) ? leaves_.verdicts(leaf(at)) : std::vector{verdict(at)};
    if (!some) return std::nullopt;
    found.insert(found.end(), some->begin(), some->end());
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace seccompress::diagram
