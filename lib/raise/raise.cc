// SPDX-License-Identifier: Apache-2.0
// Input: checked code. Output: its diagram. Entry: raise().
//
// Method: a state is (pc of a conditional jump, what A, X and scratch memory hold). From a state all comparisons of
// the same A that follow without a load are one step: the set of A's values is pushed forward through them in pc
// order (jumps only go forward), so a list of 400 JEQ costs 400 small set operations and becomes one select over
// the word; a JSET, and a test of something computed, is a step of its own. What is constant folds away; a test of
// computed values is made on their bits where that gives a small diagram (values.h). States are found forwards and
// turned into nodes backwards, so there is no recursion.
//
// What no diagram can hold (two arguments compared, a product, RET A of an argument) is carried: the instructions on
// the way to it that are no jumps, and the rest of the program, cut to each number (carry.h). So is a whole program
// that would need too many states.
#include "raise/raise.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <unordered_map>

#include "opaque/machine.h"
#include "raise/carry.h"
#include "raise/interval_set.h"
#include "raise/liveness.h"
#include "raise/values.h"
#include "support/check.h"

namespace seccompress::raise {
namespace {

using diagram::Compare;
using diagram::Node;
using program::CodeView;
using program::Instruction;

constexpr std::size_t kMaxStates = 1U << 16;
constexpr std::size_t kMaxWork = std::size_t{1} << 25;         // intervals pushed through comparisons
constexpr std::size_t kMaxCarried = 256;                       // places from which code is carried
constexpr std::size_t kMaxTrace = std::size_t{1} << 20;        // instructions executed on the way
constexpr std::size_t kMaxMemories = std::size_t{1} << 16;     // different contents of scratch memory
constexpr std::uint32_t kDataSize = sizeof(abi::SeccompData);  // what LD LEN loads
constexpr std::uint32_t kNoTrace = 0xffffffffU;

struct State {
  std::uint32_t pc = 0;
  Value a, x;
  std::uint32_t cells = 0;         // number of the scratch memory's contents; 0: all zero
  std::uint32_t trace = kNoTrace;  // how to come here; no part of the state
};

struct Key {
  std::uint64_t first, second;
  bool operator==(const Key&) const = default;
};
struct HashKey {
  std::size_t operator()(const Key& key) const {
    const std::uint64_t hash = (key.first ^ (key.second * 0x9e3779b97f4a7c15ULL)) * 0xff51afd7ed558ccdULL;
    return hash ^ (hash >> 32U);
  }
};

// Where control goes: a verdict, the state with this index, or a node.
struct Goal {
  enum class Kind : std::uint8_t { verdict, state, node } kind = Kind::verdict;
  std::uint32_t value = 0;
};

struct Exit {
  Interval values;  // of A
  Goal goal;
};

// A state's outcome: by ranges of A, or by one test.
struct Step {
  State state;
  bool is_test = false;
  Node predicate = 0;         // of a test
  std::vector<Exit> exits{};  // ascending, covering every value of A
  Goal yes{}, no{};
};

bool is_comparison(std::uint16_t code) {
  return code == (BPF_JMP | BPF_JEQ | BPF_K) || code == (BPF_JMP | BPF_JGE | BPF_K) ||
         code == (BPF_JMP | BPF_JGT | BPF_K);
}

class Raiser {
 public:
  Raiser(CodeView code, diagram::Store& store) : code_(code), store_(store), values_(store) {
    if (!raise::is_plain(code)) live_ = liveness(code);
  }

  Result<Node> run() {
    TRY_ASSIGN(const Goal start, follow({}));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_.size() > kMaxStates) return failure(Errc::budget, "too many states in one program");
      TRY(explore(i));
    }
    build_nodes();
    TRY(store_.status());
    return node_of(start);
  }

 private:
  bool is_plain() const { return live_.empty(); }

  // ---- Straight on ---------------------------------------------------------------------------------------

  // From here to a verdict, a test of something that is not constant, or the place from where code is carried.
  Result<Goal> follow(State state) {
    for (;;) {
      const Instruction& at = code_[state.pc];
      if (BPF_CLASS(at.code) == BPF_RET) return verdict(at, state);
      if (at.code == (BPF_JMP | BPF_JA)) {
        state.pc += 1 + at.k;
      } else if (BPF_CLASS(at.code) == BPF_JMP) {
        const Value operand = operand_of(at, state);
        if (!state.a.is_constant() || !operand.is_constant()) return intern(state);
        const bool holds = opaque::holds(BPF_OP(at.code), state.a.data, operand.data);
        state.pc += 1U + (holds ? at.jt : at.jf);
      } else if (divides_by_unknown(at, state)) {
        return carry_from(state);
      } else if (at.code == (BPF_ALU | BPF_DIV | BPF_X) && state.x.data == 0) {
        return Goal{Goal::Kind::verdict, abi::kKillThread};
      } else if (trace_.size() > kMaxTrace || cells_.size() > kMaxMemories) {
        return failure(Errc::budget, "too many states in one program");
      } else {
        execute(at, state);
        ++state.pc;
      }
    }
  }

  static Value operand_of(const Instruction& insn, const State& state) {
    return BPF_SRC(insn.code) == BPF_X ? state.x : Value::constant(insn.k);
  }
  static bool divides_by_unknown(const Instruction& insn, const State& state) {
    return insn.code == (BPF_ALU | BPF_DIV | BPF_X) && !state.x.is_constant();
  }

  void execute(const Instruction& at, State& state) {
    if (!is_plain()) {
      trace_.push_back({at, state.trace});
      state.trace = static_cast<std::uint32_t>(trace_.size() - 1);
    }
    switch (BPF_CLASS(at.code)) {
      case BPF_LD: state.a = loaded(at, state); return;
      case BPF_LDX: state.x = loaded(at, state); return;
      case BPF_ST: state.cells = with_cell(state.cells, at.k, state.a); return;
      case BPF_STX: state.cells = with_cell(state.cells, at.k, state.x); return;
      case BPF_MISC: (at.code == (BPF_MISC | BPF_TAX) ? state.x = state.a : state.a = state.x); return;
      default: state.a = values_.calculate(BPF_OP(at.code), state.a, operand_of(at, state)); return;
    }
  }

  Value loaded(const Instruction& at, const State& state) const {
    switch (BPF_MODE(at.code)) {
      case BPF_ABS: return Value::whole(static_cast<abi::Word>(at.k / 4));
      case BPF_LEN: return Value::constant(kDataSize);
      case BPF_MEM: return cells_[state.cells][at.k];
      default: return Value::constant(at.k);
    }
  }

  Result<Goal> verdict(const Instruction& at, const State& state) {
    if (BPF_RVAL(at.code) == BPF_K) return Goal{Goal::Kind::verdict, at.k};
    if (state.a.is_constant()) return Goal{Goal::Kind::verdict, state.a.data};
    return carry_from(state);
  }

  // ---- Scratch memory --------------------------------------------------------------------------------------

  using Cells = std::array<Value, BPF_MEMWORDS>;

  std::uint32_t with_cell(std::uint32_t cells, std::uint32_t cell, Value value) {
    Cells changed = cells_[cells];
    changed[cell] = value;
    return number_of(changed);
  }
  std::uint32_t number_of(const Cells& cells) {
    std::array<std::uint64_t, BPF_MEMWORDS> key{};
    std::transform(cells.begin(), cells.end(), key.begin(), [](Value value) { return value.key(); });
    const auto [entry, is_new] = cells_index_.try_emplace(key, static_cast<std::uint32_t>(cells_.size()));
    if (is_new) cells_.push_back(cells);
    return entry->second;
  }

  // ---- States ------------------------------------------------------------------------------------------------

  // What nothing reads any more is forgotten.
  void forget_dead(State& state) {
    if (is_plain()) return;
    const std::uint32_t live = live_[state.pc];
    if ((live & opaque::kReadsA) == 0) state.a = {};
    if ((live & opaque::kReadsX) == 0) state.x = {};
    if (state.cells == 0) return;
    Cells cells = cells_[state.cells];
    for (std::uint32_t i = 0; i < cells.size(); ++i)
      if ((live & opaque::reads_cell(i)) == 0) cells[i] = {};
    state.cells = number_of(cells);
  }
  static Key key_of(const State& state) {
    return {(std::uint64_t{state.pc} << 44U) ^ state.a.key(), (std::uint64_t{state.cells} << 43U) ^ state.x.key()};
  }

  Goal intern(State state) {
    forget_dead(state);
    const auto [entry, is_new] = index_.try_emplace(key_of(state), static_cast<std::uint32_t>(steps_.size()));
    if (is_new) steps_.push_back({.state = state});
    return {Goal::Kind::state, entry->second};
  }

  // The rest of the program as it is. The instructions that led here make A, X and M what they are.
  Result<Goal> carry_from(State state) {
    forget_dead(state);
    const auto known = carried_.find(key_of(state));
    if (known != carried_.end()) return Goal{Goal::Kind::node, known->second};
    if (carried_.size() >= kMaxCarried) return failure(Errc::budget, "too many places to carry code from");
    program::Code code;
    for (std::uint32_t at = state.trace; at != kNoTrace; at = trace_[at].before) code.push_back(trace_[at].insn);
    std::ranges::reverse(code);
    code.insert(code.end(), code_.begin() + state.pc, code_.end());
    TRY_ASSIGN(const Node node, carry(code, store_));
    carried_.emplace(key_of(state), node);
    return Goal{Goal::Kind::node, node};
  }

  // ---- Tests -------------------------------------------------------------------------------------------------

  Result<void> explore(std::size_t index) {
    const State state = steps_[index].state;
    const Instruction& at = code_[state.pc];
    if (is_comparison(at.code) && state.a.kind == Value::Kind::word) return explore_ranges(index, state);
    const auto predicate = values_.test(BPF_OP(at.code), state.a, operand_of(at, state));
    Step& step = steps_[index];
    step.is_test = true;
    if (!predicate) {
      step.predicate = store_.terminal(abi::kAllow);
      TRY_ASSIGN(const Goal code, carry_from(state));
      steps_[index].yes = code;
      return {};
    }
    step.predicate = *predicate;
    State yes = state, no = state;
    yes.pc += 1U + at.jt;
    no.pc += 1U + at.jf;
    TRY_ASSIGN(const Goal when_yes, follow(yes));
    TRY_ASSIGN(const Goal when_no, follow(no));
    steps_[index].yes = when_yes;
    steps_[index].no = when_no;
    return {};
  }

  // Pushes the set of A's values through the comparisons that follow, in pc order.
  Result<void> explore_ranges(std::size_t index, const State& state) {
    std::map<std::uint32_t, IntervalSet> reaching;
    reaching[state.pc] = IntervalSet::all();
    std::vector<Exit> exits;
    while (!reaching.empty()) {
      const auto first = reaching.begin();
      const std::uint32_t pc = first->first;
      IntervalSet values = std::move(first->second);
      reaching.erase(first);
      work_ += values.intervals().size();
      if (work_ > kMaxWork) return failure(Errc::budget, "too many value ranges in one program");
      const Instruction& at = code_[pc];
      if (is_comparison(at.code)) {
        split(at, pc, std::move(values), reaching);
      } else if (at.code == (BPF_JMP | BPF_JA)) {
        reaching[pc + 1 + at.k].add(std::move(values));
      } else {
        State next = state;
        next.pc = pc;
        TRY_ASSIGN(const Goal goal, follow(next));
        for (const Interval& interval : values.intervals()) exits.push_back({interval, goal});
      }
    }
    std::ranges::sort(exits, {}, [](const Exit& exit) { return exit.values.first; });
    steps_[index].exits = std::move(exits);
    return {};
  }

  static void split(const Instruction& at, std::uint32_t pc, IntervalSet values,
                    std::map<std::uint32_t, IntervalSet>& reaching) {
    const std::uint32_t yes = pc + 1U + at.jt, no = pc + 1U + at.jf;
    if (BPF_OP(at.code) == BPF_JEQ) {
      if (values.take(at.k)) reaching[yes].add(at.k);
    } else if (BPF_OP(at.code) == BPF_JGE) {
      add(reaching, yes, values.take_at_least(at.k));
    } else if (at.k != 0xffffffffU) {
      add(reaching, yes, values.take_at_least(at.k + 1));
    }
    add(reaching, no, std::move(values));
  }
  static void add(std::map<std::uint32_t, IntervalSet>& reaching, std::uint32_t pc, IntervalSet values) {
    if (!values.empty()) reaching[pc].add(std::move(values));
  }

  // ---- Nodes -------------------------------------------------------------------------------------------------

  // A step's exits have a greater pc, so descending pc order finds them done.
  void build_nodes() {
    std::vector<std::uint32_t> order(steps_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, std::greater<>(), [&](std::uint32_t i) { return steps_[i].state.pc; });
    nodes_.assign(steps_.size(), 0);
    for (const std::uint32_t i : order) {
      const Step& step = steps_[i];
      nodes_[i] = step.is_test ? store_.choose(step.predicate, node_of(step.yes), node_of(step.no)) : ranges(step);
    }
  }

  Node node_of(const Goal& goal) {
    if (goal.kind == Goal::Kind::verdict) return store_.terminal(goal.value);
    return goal.kind == Goal::Kind::node ? goal.value : nodes_[goal.value];
  }

  Node ranges(const Step& step) {
    pieces_.clear();
    for (const Exit& exit : step.exits) {
      const Node node = node_of(exit.goal);
      if (!pieces_.empty() && pieces_.back().node == node)
        pieces_.back().last = exit.values.last;
      else
        pieces_.push_back({exit.values.last, node});
    }
    CHECK(!pieces_.empty() && pieces_.back().last == 0xffffffffU);
    const Value& a = step.state.a;
    if (a.data == 0xffffffffU) return store_.select(a.word, pieces_);
    Node result = pieces_.back().node;
    for (std::size_t i = pieces_.size() - 1; i-- > 0;)
      result = store_.test(a.word, a.data, Compare::gt, pieces_[i].last, result, pieces_[i].node);
    return result;
  }

  struct Traced {
    Instruction insn;
    std::uint32_t before;
  };

  CodeView code_;
  diagram::Store& store_;
  Values values_;
  std::vector<std::uint32_t> live_;  // empty: the program is plain
  std::vector<Traced> trace_;
  std::vector<Cells> cells_{1};
  std::map<std::array<std::uint64_t, BPF_MEMWORDS>, std::uint32_t> cells_index_{{{}, 0}};
  std::unordered_map<Key, std::uint32_t, HashKey> index_;
  std::unordered_map<Key, Node, HashKey> carried_;
  std::vector<Step> steps_;
  std::vector<Node> nodes_;
  std::vector<diagram::Piece> pieces_;
  std::size_t work_ = 0;
};

}  // namespace

bool is_plain(CodeView code) {
  return std::all_of(code.begin(), code.end(), [](const Instruction& insn) {
    switch (BPF_CLASS(insn.code)) {
      case BPF_LD: return BPF_MODE(insn.code) != BPF_MEM;
      case BPF_ALU: return insn.code == (BPF_ALU | BPF_AND | BPF_K);
      case BPF_JMP: return BPF_OP(insn.code) == BPF_JA || BPF_SRC(insn.code) == BPF_K;
      default: return insn.code == (BPF_RET | BPF_K);
    }
  });
}

Result<Node> raise_as_code(CodeView code, diagram::Store& store) { return carry(code, store); }

Result<Node> raise(CodeView code, diagram::Store& store) {
  auto node = Raiser(code, store).run();
  if (node || node.error().code != make_error_code(Errc::budget)) return node;
  TRY(store.status());
  return carry(code, store);
}

}  // namespace seccompress::raise
