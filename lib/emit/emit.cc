// SPDX-License-Identifier: Apache-2.0
// Input: a diagram. Output: a program. Entry: emit().
//
// Method: word by word in the diagram's order. The values of a word become ranges and a weighted search
// (dispatch.h); an exit whose values are exactly {v : (v & mask) == value} is tested by one JSET or by AND and
// JEQ; a function of a few bits is masked and searched; where masks and ranges mix, the most telling bit is
// tested; and what is none of these is searched byte by byte, so that code never grows faster than the
// diagram. The memo key is (node, what A holds): code that relies on A is shared only between paths on which
// A holds the same.
//
// A path to a constant ALLOW ends before the first argument word, because arch and nr come first in the
// order and the diagram is reduced: a node that tests an argument has two different outcomes. So the
// kernel's constant-action cache (kernel/seccomp.c seccomp_is_const_allow) sees every one of them.
//
// Weakness: words are tested in one fixed order, but for the halves of one argument.
#include "emit/emit.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include "emit/carry.h"
#include "emit/code_graph.h"
#include "emit/dispatch.h"
#include "emit/layout.h"
#include "emit/numbers.h"
#include "emit/word_function.h"

namespace seccompress::emit {
namespace {

using diagram::Node;
using diagram::Piece;
using diagram::Store;

constexpr std::size_t kMaxOps = 16384;  // each reachable one is an instruction; 4096 is the end
constexpr std::size_t kMaxCompilations = 65536;
constexpr std::size_t kMaxBitTests = 512;    // each looks at 64 cofactors
constexpr std::size_t kFewRanges = 3;        // at most two tests: nothing beats that
constexpr std::size_t kPlainNumbers = 1024;  // ranges of nr or arch that a search may have without a second thought
constexpr std::size_t kPlainArgument = 64;   // likewise of an argument word
constexpr std::size_t kMaxRanges = 2 * program::kMaxInstructions;  // a lone value takes one instruction
constexpr std::size_t kManyRanges = 256;
constexpr std::size_t kSmallSet = 64;     // values
constexpr std::size_t kShortSearch = 24;  // ranges for which no mask is looked for
constexpr std::size_t kFewExits = 8;      // beyond that no mask is looked for
// Neighbouring numbers with one search: how often calls pass the tests that agree, and what these then cost more.
constexpr double kOthersShare = 0.2;
constexpr double kToldApart = 2 * kOthersShare;
constexpr std::size_t kMaxPairs = 2;   // each is a search of its own
constexpr double kLighter = 1.0 / 16;  // of the heavier one: below that it gains nothing from being found with it
constexpr abi::Verdict kLater = 0x01000000U;  // verdicts of place holders; no kernel knows this action
constexpr std::size_t kMaxLater = 4096;
constexpr Node kNoNode = ~Node{0};
constexpr std::uint32_t kWholeWord = 0xffffffffU;

// What A holds when code starts: (word & mask), or nothing of use.
struct Holding {
  bool loaded = false;
  abi::Word word = 0;
  std::uint32_t mask = 0;
  bool is_whole(abi::Word other) const { return loaded && word == other && mask == kWholeWord; }
};

class Compiler {
 public:
  Compiler(Store& store, const Options& options)
      : store_(store), options_(options), carrier_(graph_, store.leaves(), kMaxOps) {}

  Result<program::Code> run(Node root) {
    // A diagram that does not test arch is weighed as the native one's.
    if (store_.level(root) / 4 != diagram::rank_of(abi::kArch)) enter(abi::facts(abi::native_arch()).audit);
    const auto verdicts = store_.verdicts(root);
    if (!verdicts) later_is_free_ = false;
    for (const abi::Verdict verdict : verdicts.value_or(std::vector<abi::Verdict>()))
      if (verdict >= kLater && verdict < kLater + kMaxLater) later_is_free_ = false;
    const OpId start = compile(root, {});
    TRY(store_.status());
    if (carrier_.lacks_cells())
      return failure(Errc::budget, "code of two filters that compute their verdicts leaves no scratch word free");
    if (exhausted_) return failure(Errc::budget, "the flattened program needs more than 4096 instructions");
    return layout(graph_, start);
  }

 private:
  OpId compile(Node node, Holding holding) {
    if (const auto later = later_.find(node); later != later_.end()) return later->second.op;
    if (store_.is_code(node)) return carried(node);
    if (store_.is_terminal(node)) return graph_.ret(store_.verdict(node));
    if (exhausted_ || graph_.size() > kMaxOps || ++compilations_ > kMaxCompilations) {
      exhausted_ = true;
      return graph_.ret(abi::kKillProcess);
    }
    const abi::Word word = diagram::word_at(store_.level(node) / 4);
    const bool whole = holding.is_whole(word);
    const std::uint64_t key = (std::uint64_t{node} << 1U) | (whole ? 1U : 0U);
    if (const auto known = done_.find(key); known != done_.end()) return known->second;
    const Node low = whole ? node : low_half_first(node, word);
    const OpId op = whole         ? test_word(node, word)
                    : low != node ? compile(low, {})
                                  : graph_.load(word, compile(node, {true, word, kWholeWord}));
    done_[key] = op;
    return op;
  }

  OpId carried(Node node) {
    if (const auto known = carried_.find(node); known != carried_.end()) return known->second;
    const auto op = carrier_.emit(store_.leaf(node));
    exhausted_ = exhausted_ || !op;
    return carried_[node] = op.value_or(graph_.ret(abi::kKillProcess));
  }

  // A holds the whole word.
  OpId test_word(Node node, abi::Word word) {
    const bool is_number = word == abi::kArch || word == abi::kNr;
    const auto plain = ranges_of(store_, node, word, kWholeWord, is_number ? kPlainNumbers : kPlainArgument);
    if (plain && (is_number || plain->size() <= kFewRanges)) return search(*plain, word, kWholeWord);
    const std::vector<ExitValues> exits = exits_of(store_, node, word);
    if (exits.size() > kFewExits) return search_or_split(node, word);
    const ExitValues* cube = best_cube(exits);
    if (cube != nullptr && (test_length(*cube) == 1 || exits.size() == 2)) return test_cube(node, word, *cube, exits);
    if (plain)
      if (const std::uint32_t mask = mask_of_zero(*plain, exits); mask != 0) return test_zero(node, word, mask, exits);
    if (plain && plain->size() <= kShortSearch) return search(*plain, word, kWholeWord);
    const std::uint32_t support = support_of(store_, node, word);
    const auto masked = ranges_of(store_, node, word, support, is_number ? kPlainNumbers : kPlainArgument);
    if (plain && (!masked || plain->size() < 2 * masked->size())) return search(*plain, word, kWholeWord);
    if (masked) return graph_.mask(support, search(*masked, word, support));
    if (const auto many = many_ranges(node, word)) return search(*many, word, kWholeWord);
    if (const ExitValues* hull = useful_hull(exits); hull != nullptr) return test_hull(node, word, *hull, exits);
    if (const std::uint32_t bit = most_telling_bit(node, word); bit != 0) return test_bit(node, word, bit);
    if (cube != nullptr) return test_cube(node, word, *cube, exits);
    return search_or_split(node, word);
  }

  // A long list of values that no mask makes shorter: bit by bit it would only be cut into more pieces.
  std::optional<std::vector<Piece>> many_ranges(Node node, abi::Word word) {
    auto all = ranges_of(store_, node, word, kWholeWord, kMaxRanges);
    if (all && (all->size() < kManyRanges || all->size() > runs_of(store_, node, word))) all.reset();
    return all;
  }

  OpId search_or_split(Node node, abi::Word word) {
    const auto all = ranges_of(store_, node, word, kWholeWord, kMaxRanges);
    if (all && all->size() <= runs_of(store_, node, word)) return search(*all, word, kWholeWord);
    return test_byte(node, word);
  }

  // ---- Halves of an argument ---------------------------------------------------------------------------

  // A function that asks whether a high half has one value (nearly always 0), and whose two answers differ for some
  // values of the low half only, tests the low half first where that is likely to decide.
  // Those values lead to a place holder, a verdict that nothing returns. `node` itself where this does not help.
  Node low_half_first(Node node, abi::Word high) {
    if (high < abi::kArgs || high % 2 == 0 || !later_is_free_ || later_.size() >= kMaxLater) return node;
    const std::vector<ExitValues> exits = exits_of(store_, node, high);
    if (exits.size() != 2) return node;
    const bool first = exits[0].mask() == kWholeWord;
    const ExitValues &one = exits[first ? 0 : 1], &rest = exits[first ? 1 : 0];
    if (one.mask() != kWholeWord) return node;
    const abi::Word low = high - 1;
    const auto with = ranges_of(store_, one.exit, low, kWholeWord, kPlainArgument);
    const auto without = ranges_of(store_, rest.exit, low, kWholeWord, kPlainArgument);
    if (!with || !without) return node;
    std::vector<Piece> pieces;
    std::optional<std::pair<Node, Node>> differ;
    double decided = 0;  // likeliness of what the low half alone decides
    for (std::size_t i = 0, j = 0; i < with->size(); (*with)[i].last <= pieces.back().last ? ++i : i) {
      while ((*without)[j].last < (pieces.empty() ? 0 : pieces.back().last + 1)) ++j;
      const Node a = (*with)[i].node, b = (*without)[j].node;
      pieces.push_back({std::min((*with)[i].last, (*without)[j].last), a});
      if (a == b) {
        decided = std::max(decided, likeliness(a));
        continue;
      }
      if (differ && *differ != std::pair(a, b)) return node;
      differ = {a, b};
      pieces.back().node = kNoNode;
    }
    if (!differ || decided < std::max(likeliness(differ->first), likeliness(differ->second))) return node;
    const Node place = ask_later(high, one.value(), *differ);
    for (Piece& piece : pieces)
      if (piece.node == kNoNode) piece.node = place;
    return store_.select(low, pieces);
  }

  Node ask_later(abi::Word high, std::uint32_t value, std::pair<Node, Node> answers) {
    const OpId yes = compile(answers.first, {}), no = compile(answers.second, {});
    const double weight = std::max(likeliness(answers.first), likeliness(answers.second));
    const Node place = store_.terminal(kLater + static_cast<abi::Verdict>(later_.size()));
    later_[place] = {graph_.load(high, graph_.jump(BPF_JEQ, value, yes, no, 0.95)), weight};
    return place;
  }

  // ---- Ranges ------------------------------------------------------------------------------------------

  // A holds (word & mask).
  OpId search(const std::vector<Piece>& pieces, abi::Word word, std::uint32_t mask) {
    std::vector<Range> ranges(pieces.size());
    // The native architecture first: nodes that architectures share are weighed by it.
    for (const std::size_t i : compile_order(pieces, word)) {
      const std::uint32_t first = i == 0 ? 0 : pieces[i - 1].last + 1;
      ranges[i] = {first, pieces[i].last, 0, weight(pieces[i], first, word)};
      if (word == abi::kArch && first == pieces[i].last) enter(first);
      ranges[i].exit = compile(pieces[i].node, {true, word, mask});
    }
    if (word == abi::kNr && mask == kWholeWord) return search_numbers(pieces, std::move(ranges));
    return dispatch(graph_, std::move(ranges), kind_).root;
  }

  // ---- Neighbours that agree mostly ----------------------------------------------------------------------

  // Two neighbouring numbers whose argument tests agree for most values are found as one range, and told apart
  // only for the other values: mmap and mprotect, where only PROT_EXEC is of interest. Done where it is cheaper.
  OpId search_numbers(const std::vector<Piece>& pieces, std::vector<Range> ranges) {
    Found best = dispatch_numbers(graph_, ranges, kind_);
    std::size_t tried = 0;
    for (std::size_t i = 0; kind_ == Search::fast && i + 1 < ranges.size() && tried < kMaxPairs; ++i) {
      const Node a = pieces[i].node, b = pieces[i + 1].node;
      const double lighter = std::min(ranges[i].weight, ranges[i + 1].weight);
      if (lighter < kLighter * ranges[i].weight || lighter < kLighter * ranges[i + 1].weight) continue;
      if (agreeing_bits(a, b) == 0) continue;
      ++tried;
      std::vector<Range> joined = ranges;
      const abi::Word word = diagram::word_at(store_.level(a) / 4);
      joined[i].exit = joined[i + 1].exit = graph_.load(word, test_both(a, b, word, joined[i + 1].first));
      const Found found = dispatch_numbers(graph_, joined, kind_);
      const double told_apart = kToldApart * (ranges[i].weight + ranges[i + 1].weight);
      if (found.cost + told_apart >= best.cost) continue;
      best = {found.root, found.cost + told_apart};
      ranges = std::move(joined);
    }
    return best.root;
  }

  // The fewest bits of the first word that both test which, all clear, leave one function; 0: there are none.
  std::uint32_t agreeing_bits(Node a, Node b) {
    if (store_.is_terminal(a) || store_.is_terminal(b) || store_.level(a) / 4 != store_.level(b) / 4) return 0;
    const abi::Word word = diagram::word_at(store_.level(a) / 4);
    std::uint32_t bits = support_of(store_, a, word) | support_of(store_, b, word);
    if (bits == kWholeWord) return 0;
    const Node common = store_.cofactor(a, word, bits, 0);
    if (store_.cofactor(b, word, bits, 0) != common) return 0;
    const auto agree = [&](std::uint32_t clear) {
      return store_.cofactor(a, word, clear, 0) == common && store_.cofactor(b, word, clear, 0) == common;
    };
    for (std::uint32_t bit = 1; bit != 0; bit <<= 1U)
      if ((bits & bit) != 0 && agree(bits & ~bit)) bits &= ~bit;
    return bits;
  }

  // A holds `word` of a call whose number is below `second` (then it goes on as a) or not (as b).
  OpId test_both(Node a, Node b, abi::Word word, std::uint32_t second) {
    if (a == b) return compile(a, {true, word, kWholeWord});
    if (const std::uint32_t bits = agreeing_bits(a, b); bits != 0) {
      const OpId same = compile(store_.cofactor(a, word, bits, 0), {true, word, kWholeWord});
      const OpId others = std::has_single_bit(bits) ? test_both(store_.cofactor(a, word, bits, bits),
                                                                store_.cofactor(b, word, bits, bits), word, second)
                                                    : tell_apart(a, b, second);
      return graph_.jump(BPF_JSET, bits, others, same, kOthersShare);
    }
    const std::uint32_t support = support_of(store_, a, word) | support_of(store_, b, word);
    for (std::uint32_t rest = support; rest != 0; rest &= rest - 1) {
      const std::uint32_t bit = rest & ~(rest - 1);
      const Node same = store_.cofactor(a, word, bit, bit);
      if (same != store_.cofactor(b, word, bit, bit)) continue;
      const Node x = store_.cofactor(a, word, bit, 0), y = store_.cofactor(b, word, bit, 0);
      return graph_.jump(BPF_JSET, bit, compile(same, {true, word, kWholeWord}), test_both(x, y, word, second), 0.5);
    }
    return tell_apart(a, b, second);
  }

  OpId tell_apart(Node a, Node b, std::uint32_t second) {
    return graph_.load(abi::kNr, graph_.jump(BPF_JGE, second, compile(b, {}), compile(a, {}), 0.5));
  }

  // The first byte that the node tests; lower bytes become tests of their own.
  OpId test_byte(Node node, abi::Word word) {
    const unsigned byte = store_.level(node) % 4U, shift = 24U - 8U * byte;
    std::vector<Piece> pieces;
    for (const diagram::Run& run : store_.runs(node))
      pieces.push_back({(std::uint32_t{run.last} << shift) | ((1U << shift) - 1U), run.node});
    pieces.back().last = kWholeWord;
    const std::uint32_t mask = kWholeWord >> (8U * byte);
    const OpId found = search(pieces, word, mask);
    return mask == kWholeWord ? found : graph_.mask(mask, found);
  }

  // What follows is the code of one architecture.
  void enter(std::uint32_t audit_arch) {
    numbers_ = options_.weights.numbers(audit_arch);
    kind_ = audit_arch == abi::facts(abi::native_arch()).audit ? Search::fast : Search::small;
  }

  static std::vector<std::size_t> compile_order(const std::vector<Piece>& pieces, abi::Word word) {
    std::vector<std::size_t> order;
    const std::uint32_t native = abi::facts(abi::native_arch()).audit;
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (word == abi::kArch && pieces[i].last == native) order.push_back(i);
    for (std::size_t i = 0; i < pieces.size(); ++i)
      if (word != abi::kArch || pieces[i].last != native) order.push_back(i);
    return order;
  }

  double weight(const Piece& piece, std::uint32_t first, abi::Word word) const {
    if (word == abi::kArch) return arch_weight(first, piece.last);
    if (word == abi::kNr) {
      const double share = options_.cache_model && is_allow(piece.node) ? kCachedShare : 1.0;
      return share * numbers_.of_range(first, piece.last);
    }
    // High halves are nearly always 0; of the others only that calls are mostly made to succeed.
    const bool high = word % 2 == 1;
    return (high && first == 0 ? 20.0 : 1.0) * likeliness(piece.node);
  }

  // Of an outcome of an argument test.
  double likeliness(Node node) const {
    if (const auto later = later_.find(node); later != later_.end()) return later->second.likeliness;
    if (!store_.is_terminal(node) || store_.is_code(node)) return 4.0;
    return store_.verdict(node) == abi::kAllow ? 8.0 : 1.0;
  }

  static double arch_weight(std::uint32_t first, std::uint32_t last) {
    if (first != last) return 0.1;
    return first == abi::facts(abi::native_arch()).audit ? 1000.0 : 10.0;
  }

  bool is_allow(Node node) const {
    return store_.is_terminal(node) && !store_.is_code(node) && store_.verdict(node) == abi::kAllow;
  }

  // ---- Masks -------------------------------------------------------------------------------------------

  // Instructions that tell a cube from the rest.
  static int test_length(const ExitValues& cube) {
    const bool one_jump = cube.value() == 0 || std::has_single_bit(cube.mask()) || cube.mask() == kWholeWord;
    return one_jump ? 1 : 2;
  }

  static const ExitValues* best_cube(const std::vector<ExitValues>& exits) {
    const ExitValues* best = nullptr;
    for (const ExitValues& exit : exits) {
      if (!exit.is_cube()) continue;
      if (best == nullptr || test_length(exit) < test_length(*best) ||
          (test_length(exit) == test_length(*best) && exit.count > best->count))
        best = &exit;
    }
    return best;
  }

  // (v & mask) == value ? inside : outside, by one or two instructions. A holds the whole word.
  OpId test_mask(abi::Word word, const ExitValues& cube, Node inside, Node outside) {
    const std::uint32_t mask = cube.mask(), value = cube.value();
    const std::uint32_t clear = mask & ~value;
    // Two bit tests cost no more than AND and JEQ, keep A, and the first one often decides.
    const bool by_bits = std::has_single_bit(value) || (std::popcount(value) == 2 && clear == 0);
    Holding holding{true, word, kWholeWord};
    if (test_length(cube) == 2 && !by_bits) holding.mask = mask;  // AND takes the other bits away
    const OpId in = compile(inside, holding), out = compile(outside, holding);
    const double share = likeliness(inside) / (likeliness(inside) + likeliness(outside));
    if (mask == kWholeWord) return graph_.jump(BPF_JEQ, value, in, out, share);
    if (value == 0) return graph_.jump(BPF_JSET, mask, out, in, 1 - share);
    if (std::has_single_bit(mask)) return graph_.jump(BPF_JSET, mask, in, out, share);
    if (by_bits) return test_bits(value, clear, in, out);
    return graph_.mask(mask, graph_.jump(BPF_JEQ, value, in, out, share));
  }

  // All bits of `value` (one or two) set and none of `clear`. Flags are more often clear than set, high ones
  // more so, and that decides at once.
  OpId test_bits(std::uint32_t value, std::uint32_t clear, OpId in, OpId out) {
    const std::uint32_t first = std::bit_floor(value), second = value & ~first;
    const OpId rest =
        second != 0 ? graph_.jump(BPF_JSET, second, in, out, 0.5) : graph_.jump(BPF_JSET, clear, out, in, 0.5);
    return graph_.jump(BPF_JSET, first, rest, out, 0.25);
  }

  OpId test_cube(Node node, abi::Word word, const ExitValues& cube, const std::vector<ExitValues>& exits) {
    return test_mask(word, cube, cube.exit, without(node, word, cube, exits));
  }

  // The mask under which 0 and at least three more values of a small set are 0; 0: there is none. Personality's
  // {0, 8, 0x20000, 0x20008, 0xffffffff} is such a set.
  std::uint32_t mask_of_zero(const std::vector<Piece>& pieces, const std::vector<ExitValues>& exits) const {
    const auto small = [&](const ExitValues& exit) {
      return exit.exit == pieces.front().node && exit.count <= kSmallSet;
    };
    if (exits.size() != 2 || std::ranges::none_of(exits, small)) return 0;
    const auto is_in = [&](std::uint32_t value) {
      return std::ranges::lower_bound(pieces, value, {}, &Piece::last)->node == pieces.front().node;
    };
    std::vector<std::uint32_t> cube = {0};
    for (std::uint32_t bit = 1; bit != 0; bit <<= 1U) {
      if (std::ranges::any_of(cube, [&](std::uint32_t value) { return !is_in(value | bit); })) continue;
      for (std::size_t i = 0, size = cube.size(); i < size; ++i) cube.push_back(cube[i] | bit);
    }
    return cube.size() >= 4 ? ~cube.back() : 0;
  }

  OpId test_zero(Node node, abi::Word word, std::uint32_t mask, const std::vector<ExitValues>& exits) {
    const Node inside = store_.cofactor(node, word, kWholeWord, 0);
    const Node other = exits[0].exit == inside ? exits[1].exit : exits[0].exit;
    const Node outside = store_.test(word, mask, diagram::Compare::eq, 0, other, node);
    const Holding holding{true, word, kWholeWord};
    return graph_.jump(BPF_JSET, mask, compile(outside, holding), compile(inside, holding), 0.5);
  }

  // An exit of two whose values share some bits: one test and the other exit is decided outside of them.
  static const ExitValues* useful_hull(const std::vector<ExitValues>& exits) {
    if (exits.size() != 2) return nullptr;
    const ExitValues& first = exits[0];
    const ExitValues& second = exits[1];
    if (first.mask() == 0 && second.mask() == 0) return nullptr;
    return std::popcount(first.mask()) >= std::popcount(second.mask()) ? &first : &second;
  }

  OpId test_hull(Node node, abi::Word word, const ExitValues& hull, const std::vector<ExitValues>& exits) {
    const Node inside = store_.cofactor(node, word, hull.mask(), hull.value());
    return test_mask(word, hull, inside, without(node, word, hull, exits));
  }

  // What is left when an exit's values cannot occur: they may go wherever that is simplest.
  Node without(Node node, abi::Word word, const ExitValues& cube, const std::vector<ExitValues>& exits) {
    Node best = node;
    std::size_t best_size = 0;
    for (const ExitValues& other : exits) {
      if (other.exit == cube.exit) continue;
      const Node candidate = store_.substitute(node, word, cube.exit, other.exit);
      const std::size_t size = runs_of(store_, candidate, word);
      if (best == node || size < best_size) best = candidate, best_size = size;
    }
    return best;
  }

  // ---- Bits --------------------------------------------------------------------------------------------

  // The bit whose two cofactors are simplest together; 0 when none halves the work.
  std::uint32_t most_telling_bit(Node node, abi::Word word) {
    std::uint32_t best = 0;
    std::size_t best_size = runs_of(store_, node, word) / 2;
    for (unsigned shift = 0; shift < 32; ++shift) {
      const std::uint32_t bit = 1U << shift;
      const Node set = store_.cofactor(node, word, bit, bit), clear = store_.cofactor(node, word, bit, 0);
      if (set == clear) continue;
      const std::size_t size = runs_of(store_, set, word) + runs_of(store_, clear, word);
      if (size < best_size) best = bit, best_size = size;
    }
    return best;
  }

  OpId test_bit(Node node, abi::Word word, std::uint32_t bit) {
    if (++bit_tests_ > kMaxBitTests) {
      exhausted_ = true;
      return graph_.ret(abi::kKillProcess);
    }
    const Holding holding{true, word, kWholeWord};
    const Node set = store_.cofactor(node, word, bit, bit), clear = store_.cofactor(node, word, bit, 0);
    const double share = likeliness(set) / (likeliness(set) + likeliness(clear));
    const OpId yes = compile(set, holding);
    return graph_.jump(BPF_JSET, bit, yes, compile(clear, holding), share);
  }

  Store& store_;
  const Options& options_;
  CodeGraph graph_;
  Carrier carrier_;
  std::unordered_map<Node, OpId> carried_;
  std::unordered_map<std::uint64_t, OpId> done_;
  struct Later {
    OpId op;
    double likeliness;
  };
  std::unordered_map<Node, Later> later_;  // place holders of low_half_first
  bool later_is_free_ = true;
  NumberWeights numbers_;  // of the architecture being compiled
  Search kind_ = Search::fast;
  std::size_t compilations_ = 0, bit_tests_ = 0;
  bool exhausted_ = false;
};

}  // namespace

Result<program::Code> emit(Store& store, Node root, const Options& options) {
  return Compiler(store, options).run(root);
}

}  // namespace seccompress::emit
