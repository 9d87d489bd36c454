// SPDX-License-Identifier: Apache-2.0
// NOUN: the function (seccomp_data) -> verdict, as a canonical decision diagram.
//
// Representation: a multi-valued decision diagram over bytes. The words of seccomp_data are tested in one
// order (arch, nr, a0.hi, a0.lo, ... a5.lo, ip.hi, ip.lo), each word as four bytes, most significant first;
// a node maps the 256 values of one byte to children as a run-length list. Nodes are hash-consed and a node
// whose children are all the same is that child. So two functions are equal iff their node numbers are: no
// constraint solver, and equality stays exact when mask tests and range tests mix on one word (a mask test
// costs at most 256 runs a byte, a range test at most 3). Decision of 2026-11-30, lib/README.md.
//
// Terminals are normalized verdicts (abi::normalize), so `equal` of design section 1 is node equality. Where a filter
// does what no diagram can hold, a terminal is carried code (opaque/leaf.h): the function stays exact, but nodes that
// reach such a terminal may be equal functions without being equal nodes. has_code() tells them.
//
// Limits: a store holds at most Limits::edges runs. Beyond that it is exhausted: every further operation
// returns kExhausted (a KILL_PROCESS terminal: fail closed) and status() is Errc::budget. Callers check
// status() once at the end of a stage.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "abi/verdict.h"
#include "abi/word.h"
#include "opaque/leaf.h"
#include "support/result.h"

namespace seccompress::diagram {

using Node = std::uint32_t;  // index into its store; only meaningful with it

struct Limits {
  std::size_t edges = std::size_t{1} << 20;  // some 30 MiB with all that goes with them
};

enum class Compare : std::uint8_t { eq, ge, gt, set };  // set: (word & mask & value) != 0

// One piece of a word's value range: values up to and including `last` that earlier pieces left over.
struct Piece {
  std::uint32_t last;
  Node node;
};

// One run of a byte's value range.
struct Run {
  std::uint8_t last;
  Node node;
  bool operator==(const Run&) const = default;
};

inline constexpr int kLevels = 4 * abi::kWords;
inline constexpr std::uint8_t kTerminalLevel = 255;

// Position of a word in the order, and back.
int rank_of(abi::Word word);
abi::Word word_at(int rank);

class Store {
 public:
  explicit Store(Limits limits = {});
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  // ---- Making diagrams -------------------------------------------------------------------------------
  Node terminal(abi::Verdict verdict);
  // A terminal of carried code: a root in code().
  Node carried(opaque::OpId root);
  // The function that picks a piece by the value of `word`. Pieces ascend, the final `last` is 0xffffffff.
  // Children may test any words, this one included (they are then restricted to their piece).
  Node select(abi::Word word, std::span<const Piece> pieces);
  // ((word & mask) compare value) ? yes : no
  Node test(abi::Word word, std::uint32_t mask, Compare compare, std::uint32_t value, Node yes, Node no);
  // The kernel's evaluation of two filters (abi::stack pointwise).
  Node stack(Node newer, Node older);
  // predicate: a diagram to ALLOW (it holds) and KILL_PROCESS.
  Node choose(Node predicate, Node yes, Node no) { return if_then_else(predicate, yes, no); }

  // ---- Reading them ----------------------------------------------------------------------------------
  bool is_terminal(Node node) const { return nodes_[node].level == kTerminalLevel; }
  bool is_code(Node node) const { return is_terminal(node) && nodes_[node].count != 0; }
  abi::Verdict verdict(Node node) const;                               // of a terminal that is no code
  opaque::LeafId leaf(Node node) const { return nodes_[node].first; }  // of one that is
  opaque::Leaves& leaves() { return leaves_; }
  const opaque::Leaves& leaves() const { return leaves_; }
  opaque::Graph& code() { return leaves_.graph(); }
  bool has_code(Node node) const;  // does it reach a terminal of carried code?
  std::uint8_t level(Node node) const { return nodes_[node].level; }
  std::span<const Run> runs(Node node) const {
    if (is_terminal(node)) return {};
    return {runs_.data() + nodes_[node].first, nodes_[node].count};
  }
  abi::Verdict evaluate(Node node, const abi::SeccompData& data) const;
  // All verdicts that some input reaches, ascending. With carried code: all that may come; nullopt: any word may.
  std::optional<std::vector<abi::Verdict>> verdicts(Node node) const;
  // An input on which the two differ; nullopt when a == b. Unconstrained words are 0 where possible.
  // With carried code see witness().
  std::optional<abi::SeccompData> difference(Node a, Node b) const;
  // An input for which `holds(verdict a, verdict b)`, nullopt when there is none.
  using Relation = bool (*)(abi::Verdict a, abi::Verdict b);
  // Carried code is run at one input of each path: what is found is right, what is not found may be there.
  std::optional<abi::SeccompData> witness(Node a, Node b, Relation holds) const;
  // False: no such input. True: without carried code there is one, with it there may be.
  bool may_hold(Node a, Node b, Relation holds) const;

  Result<void> status() const;
  std::size_t node_count() const { return nodes_.size(); }
  std::size_t edge_count() const { return runs_.size(); }

  // ---- Memory ------------------------------------------------------------------------------------------
  // forget_since gives back what was made since the mark, when that is much; its nodes must not be used again.
  struct Mark {
    std::size_t nodes, runs;
  };
  Mark mark() const { return {nodes_.size(), runs_.size()}; }
  void forget_since(Mark mark);

  // ---- For stages that walk nodes (emit) ---------------------------------------------------------------
  // Makes (or finds) the node of `level` with these runs; adjacent equal runs are joined.
  Node make(std::uint8_t level, std::span<const Run> runs);
  // f with the bits of `word` under mask fixed to value: the result does not depend on them.
  Node cofactor(Node node, abi::Word word, std::uint32_t mask, std::uint32_t value);
  // f with the exit `from` of `word` (a node that does not test it) replaced by `to`.
  Node substitute(Node node, abi::Word word, Node from, Node to);

 private:
  struct Record {
    std::uint32_t first;  // into runs_; a terminal's verdict or leaf
    std::uint32_t hash;
    std::uint16_t count;  // of runs; of a terminal: is it a leaf of carried code?
    std::uint8_t level;
  };
  struct Memo {
    Node a = 0xffffffffU, b = 0, c = 0, result = 0;
  };
  // Walks a node's runs as seen from `level`: a node below it is one run of all 256 values. Holds indices,
  // not pointers, since the walk makes nodes.
  class Cursor {
   public:
    Cursor(const Store& store, Node node, std::uint8_t level);
    unsigned last(const Store& store) const;
    Node node(const Store& store) const;
    void pass(const Store& store, unsigned last);

   private:
    Node whole_;
    std::uint32_t next_, end_;
  };

  Node exhaust();
  Node leaf_terminal(const opaque::Items& items);
  std::vector<Node> terminals_of(Node node) const;
  opaque::Items items_of(Node node) const;
  Node lookup(std::uint8_t level, std::span<const Run> runs);
  void grow_table();
  void make_table(std::size_t size);
  Memo& memo_slot(Node a, Node b, Node c);
  Node select_block(int rank, int byte, std::uint32_t base, std::span<const Piece> pieces, std::size_t& next);
  Node build_predicate(int rank, std::uint32_t mask, Compare compare, std::uint32_t value);
  Node if_then_else(Node predicate, Node yes, Node no);

  Limits limits_;
  bool exhausted_ = false;
  std::vector<Record> nodes_;
  std::vector<Run> runs_;
  std::vector<std::uint32_t> table_;  // open addressing: node + 1, 0 = free
  std::vector<Memo> memo_;            // overwrites on collision
  std::unordered_map<abi::Verdict, Node> terminals_;
  std::unordered_map<opaque::LeafId, Node> code_terminals_;
  opaque::Leaves leaves_;
  Node kill_process_ = 0, allow_ = 0;  // also the booleans of predicates: allow_ = true
};

}  // namespace seccompress::diagram
