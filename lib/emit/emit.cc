// SPDX-License-Identifier: Apache-2.0
// Input: a diagram. Output: a program. Entry: emit().
//
// Method: word by word in the diagram's order. The values of a word become ranges and a weighted search
// (dispatch.h); where ranges are many, an exit whose values are exactly {v : (v & mask) == value} is tested
// by one JSET or by AND and JEQ; what is neither is split by its most telling bit. The memo key is (node,
// what A holds): code that relies on A is shared only between paths on which A holds the same.
//
// A path to a constant ALLOW ends before the first argument word, because arch and nr come first in the
// order and the diagram is reduced: a node that tests an argument has two different outcomes. So the
// kernel's constant-action cache (kernel/seccomp.c seccomp_is_const_allow) sees every one of them.
//
// Weakness: words are tested in one fixed order (high word before low word).
#include "emit/emit.h"

#include <bit>
#include <unordered_map>

#include "emit/code_graph.h"
#include "emit/dispatch.h"
#include "emit/layout.h"
#include "emit/word_function.h"

namespace seccompress::emit {
namespace {

using diagram::Node;
using diagram::Piece;
using diagram::Store;

constexpr std::size_t kMaxOps = 16384;        // each reachable one is an instruction; 4096 is the end
constexpr std::size_t kMaxCompilations = 65536;
constexpr std::size_t kMaxBitTests = 512;     // each looks at 64 cofactors
constexpr std::size_t kMaxRanges = 8192;      // of one word
constexpr std::size_t kFewRanges = 3;         // at most two tests: nothing beats that

// What A holds when code starts: (word & mask), or nothing of use.
struct Holding {
  bool loaded = false;
  abi::Word word = 0;
  std::uint32_t mask = 0;
  bool is_whole(abi::Word other) const { return loaded && word == other && mask == 0xffffffffU; }
};

class Compiler {
 public:
  Compiler(Store& store, const Options& options) : store_(store), options_(options) {}

  Result<program::Code> run(Node root) {
    const OpId start = compile(root, {});
    TRY(store_.status());
    if (exhausted_) return failure(Errc::budget, "the flattened program needs more than 4096 instructions");
    return layout(graph_, start);
  }

 private:
  OpId compile(Node node, Holding holding) {
    if (store_.is_terminal(node)) return graph_.ret(store_.verdict(node));
    if (exhausted_ || graph_.size() > kMaxOps || ++compilations_ > kMaxCompilations) {
      exhausted_ = true;
      return graph_.ret(abi::kKillProcess);
    }
    const abi::Word word = diagram::word_at(store_.level(node) / 4);
    const bool whole = holding.is_whole(word);
    const std::uint64_t key = (std::uint64_t{node} << 1U) | (whole ? 1U : 0U);
    if (const auto known = done_.find(key); known != done_.end()) return known->second;
    const OpId op = whole ? test_word(node, word) : graph_.load(word, compile(node, {true, word, 0xffffffffU}));
    done_[key] = op;
    return op;
  }

  // A holds the whole word.
  OpId test_word(Node node, abi::Word word) {
    const auto ranges = ranges_of(store_, node, word, kMaxRanges);
    if (ranges && (word == abi::kArch || word == abi::kNr || ranges->size() <= kFewRanges))
      return search(*ranges, word);
    const std::vector<ExitValues> exits = exits_of(store_, node, word);
    const ExitValues* cube = best_cube(exits);
    if (cube != nullptr && (!ranges || test_length(*cube) == 1 || exits.size() == 2))
      return test_cube(node, word, *cube, exits);
    if (ranges) return search(*ranges, word);
    return test_bit(node, word);
  }

  // ---- Ranges ------------------------------------------------------------------------------------------

  OpId search(const std::vector<Piece>& pieces, abi::Word word) {
    std::vector<Range> ranges(pieces.size());
    std::uint32_t first = 0;
    // The native architecture first: nodes that architectures share are weighed by it.
    for (const std::size_t i : compile_order(pieces, word)) {
      first = i == 0 ? 0 : pieces[i - 1].last + 1;
      ranges[i] = {first, pieces[i].last, 0, weight(pieces[i], first, word)};
      if (word == abi::kArch) arch_ = first == pieces[i].last ? first : 0;
      ranges[i].exit = compile(pieces[i].node, {true, word, 0xffffffffU});
    }
    return dispatch(graph_, std::move(ranges));
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
      if (options_.cache_model && arch_ != 0 && is_allow(piece.node)) return 0;
      return options_.weights.of_range(arch_, first, piece.last);
    }
    // High halves are nearly always 0; nothing is known of the others.
    const bool high = word % 2 == 1;
    return high && first == 0 ? 20.0 : 1.0;
  }

  static double arch_weight(std::uint32_t first, std::uint32_t last) {
    if (first != last) return 0.1;
    return first == abi::facts(abi::native_arch()).audit ? 1000.0 : 10.0;
  }

  bool is_allow(Node node) const { return store_.is_terminal(node) && store_.verdict(node) == abi::kAllow; }

  // ---- Masks -------------------------------------------------------------------------------------------

  // Instructions that tell a cube from the rest.
  static int test_length(const ExitValues& cube) {
    const bool one_jump = cube.value() == 0 || std::has_single_bit(cube.mask()) || cube.mask() == 0xffffffffU;
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

  OpId test_cube(Node node, abi::Word word, const ExitValues& cube, const std::vector<ExitValues>& exits) {
    const Node rest = without(node, word, cube, exits);
    const std::uint32_t mask = cube.mask(), value = cube.value();
    Holding holding{true, word, 0xffffffffU};
    if (test_length(cube) == 2) holding.mask = mask;  // AND takes the other bits away
    const OpId inside = compile(cube.exit, holding), outside = compile(rest, holding);
    if (mask == 0xffffffffU) return graph_.jump(BPF_JEQ, value, inside, outside);
    if (value == 0) return graph_.jump(BPF_JSET, mask, outside, inside);
    if (std::has_single_bit(mask)) return graph_.jump(BPF_JSET, mask, inside, outside);
    return graph_.mask(mask, graph_.jump(BPF_JEQ, value, inside, outside));
  }

  // What is left when the cube's values cannot occur: they may go wherever that is simplest.
  Node without(Node node, abi::Word word, const ExitValues& cube, const std::vector<ExitValues>& exits) {
    Node best = node;
    std::size_t best_size = kMaxRanges + 2;
    for (const ExitValues& other : exits) {
      if (other.exit == cube.exit) continue;
      const Node candidate = store_.substitute(node, word, cube.exit, other.exit);
      const std::size_t size = range_count(candidate, word);
      if (size < best_size || best == node) best = candidate, best_size = size;
    }
    return best;
  }

  std::size_t range_count(Node node, abi::Word word) const {
    const auto ranges = ranges_of(store_, node, word, kMaxRanges);
    return ranges ? ranges->size() : kMaxRanges + 1;
  }

  // ---- Bits --------------------------------------------------------------------------------------------

  OpId test_bit(Node node, abi::Word word) {
    if (++bit_tests_ > kMaxBitTests) {
      exhausted_ = true;
      return graph_.ret(abi::kKillProcess);
    }
    std::uint32_t best = 0;
    std::size_t best_size = 0;
    for (unsigned shift = 0; shift < 32; ++shift) {
      const std::uint32_t bit = 1U << shift;
      const Node set = store_.cofactor(node, word, bit, bit), clear = store_.cofactor(node, word, bit, 0);
      if (set == clear) continue;
      const std::size_t size = range_count(set, word) + range_count(clear, word);
      if (best == 0 || size < best_size) best = bit, best_size = size;
    }
    const Holding holding{true, word, 0xffffffffU};
    const OpId yes = compile(store_.cofactor(node, word, best, best), holding);
    return graph_.jump(BPF_JSET, best, yes, compile(store_.cofactor(node, word, best, 0), holding));
  }

  Store& store_;
  const Options& options_;
  CodeGraph graph_;
  std::unordered_map<std::uint64_t, OpId> done_;
  std::uint32_t arch_ = 0;  // the architecture being compiled, 0 when there are several
  std::size_t compilations_ = 0, bit_tests_ = 0;
  bool exhausted_ = false;
};

}  // namespace

Result<program::Code> emit(Store& store, Node root, const Options& options) {
  return Compiler(store, options).run(root);
}

}  // namespace seccompress::emit
