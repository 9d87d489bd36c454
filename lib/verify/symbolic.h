// SPDX-License-Identifier: Apache-2.0
// Runs the rest of a program, from a residue on, for one cell and all arguments at once.
//
// Values are constants, masked words of the input, or 32 functions; ways that meet become one state whose
// values are chosen by the condition under which each came, so every instruction is taken once. AND OR XOR
// LSH RSH ADD SUB NEG and products with a constant are exact. Other products, and quotients, give a fresh word for each
// distinct (operation, operands): the same computation on the same values is the same word, and nothing else is known
// of it. So equality under fresh words is equality; a difference may be none and needs a concrete witness.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "verify/bdd.h"
#include "verify/intervals.h"
#include "verify/partition.h"
#include "verify/walk.h"

namespace seccompress::verify {

// A rectangle of the (arch, nr) plane.
struct Cell {
  const ArchClass* arch;
  Interval nr;
};

// How a cell is executed.
struct Mode {
  Order order;
  bool abstract = false;  // all arithmetic and all relations between values are fresh words
  bool separate = false;  // ways that meet with different values stay apart: more steps, more equal fresh words
  bool words = false;     // verdicts as 32 functions, however many there are
};

// A function to verdicts: disjoint regions, one for each normalized verdict.
struct Region {
  abi::Verdict verdict;
  Edge where;
};
using Regions = std::vector<Region>;
void add_region(Bdd& bdd, Regions& regions, abi::Verdict verdict, Edge where);

enum class Trouble : std::uint8_t {
  none,
  needs_plane,  // a test inside the cell depends on arch or nr: run again with their bits as variables
  overflow,     // nodes, values, fresh words or steps
  verdicts,     // RET A has too many values
};

class Executor {
 public:
  Executor(Bdd& bdd, Budget& budget) : bdd_(bdd), budget_(budget) {}

  // Forgets all values; plane: arch and nr are variables (constrained by the region that run() is given).
  void enter(const Cell& cell, Mode mode, bool plane);
  // The arch and nr of the cell as a condition.
  Edge inside();

  // Regions of the verdicts of `subject` from (pc, held) on.
  Regions run(const Subject& subject, std::uint32_t pc, Held held, Edge region);
  // The same as a normalized word (Mode::words); 0 outside of the region.
  using Bits = std::array<Edge, 32>;  // by bit number
  Bits run_to_word(const Subject& subject, std::uint32_t pc, Held held, Edge region);
  Bits word_of(abi::Verdict verdict, Edge region);
  // The kernel's rule on words.
  Bits stack_words(const Bits& newer, const Bits& older);

  Trouble trouble() const { return bdd_.overflowed() ? Trouble::overflow : trouble_; }
  bool used_plane() const { return used_plane_; }  // some outcome depended on arch or nr
  bool used_fresh() const { return fresh_count_ > 0; }

 private:
  struct Value {
    enum class Kind : std::uint8_t { constant, word, bits } kind = Kind::constant;
    std::uint8_t word = 0;
    std::uint32_t data = 0;  // the constant, the mask, or the number of the bits
    bool operator==(const Value&) const = default;
    bool is_constant() const { return kind == Kind::constant; }
  };
  using Memory = std::array<Value, 16>;
  static constexpr std::uint32_t kNoMemory = 0xffffffffU;  // all words 0
  static constexpr WordId kNoFocus = 0xffffffffU;
  // A condition under construction: base, and the word `focus` is in `within`. Lists of tests of one word only
  // change the set; it becomes a diagram (settle) when something else is tested.
  struct Condition {
    explicit Condition(Edge only = kTrue) : base(only) {}
    Edge base;
    WordId focus = kNoFocus;
    IntervalSet within;
  };
  struct State {
    std::uint32_t pc;
    Condition when;
    Value a, x;
    std::uint32_t memory;
  };
  struct Result {
    abi::Verdict verdict;
    Condition when;
  };
  struct Fresh {
    std::uint32_t operation, a, x;
  };

  static Value constant(std::uint32_t value) { return {Value::Kind::constant, 0, value}; }
  Value resolve(Value value);
  Bits bits_of(Value value);
  Value value_of(const Bits& bits);
  Value merge(Edge condition, Value yes, Value no);
  Value fresh(std::uint32_t operation, Value a, Value x);
  Edge equal_bits(const Bits& a, const Bits& x);

  Edge settle(Condition& condition);
  bool unite(Condition& there, Condition& other);
  void finish(abi::Verdict verdict, Condition when);
  Regions collect();

  void deliver(State state);
  void merge_into(State& there, State& state);
  void step(State& state);
  bool move(State& state, const program::Instruction& insn);
  void jump(State& state, const program::Instruction& insn);
  bool split(Relation relation, std::uint32_t constant, State& yes, State& no);
  Edge condition(Value a, Value operand, Relation relation);
  Edge compare_constant(Value a, Relation relation, std::uint32_t constant);
  Edge compare_bits(const Bits& a, const Bits& x, Relation relation);
  void arithmetic(State& state, const program::Instruction& insn);
  Value calculate(std::uint32_t operation, Value a, Value operand);
  Value shift(std::uint32_t operation, Value a, Value operand);
  Value product(Value a, std::uint32_t factor);
  Value calculate_bits(std::uint32_t operation, Value a, Value operand);
  Value add(const Bits& a, const Bits& x, Edge carry);
  void explore(const Subject& subject, std::uint32_t pc, Held held, Edge region);
  void return_value(State& state);
  Bits normalize(Bits word);
  void split_verdicts(const Bits& bits, int bit, abi::Verdict prefix, Edge region);

  Bdd& bdd_;
  Budget& budget_;
  Cell cell_{};
  Mode mode_{};
  bool plane_ = false;
  bool used_plane_ = false;
  Trouble trouble_ = Trouble::none;

  const Subject* subject_ = nullptr;
  std::vector<State> pending_;  // descending by pc, one for each
  std::vector<Result> results_;
  struct Word {
    Bits bits;
    Edge when;
  };
  std::vector<Word> computed_;  // verdicts that RET A returned (Mode::words)
  std::vector<Bits> bits_;
  HashIndex bits_index_;
  std::vector<Memory> memories_;
  std::vector<Fresh> fresh_words_;
  std::uint32_t fresh_count_ = 0;
};

}  // namespace seccompress::verify
