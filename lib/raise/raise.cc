// SPDX-License-Identifier: Apache-2.0
// Input: checked code. Output: its diagram. Entry: raise().
//
// Method: a state is (pc of a conditional jump, what A holds). From a state all comparisons of the same A
// that follow without a load are one step: the set of A's values is pushed forward through them in pc order
// (jumps only go forward), so a list of 400 JEQ costs 400 small set operations and becomes one select over
// the word; a JSET is a step of its own. Loads of constants and arithmetic on constants fold away. States
// are found forwards and turned into nodes backwards, so there is no recursion.
//
// Weaknesses: X, scratch memory, arithmetic on a loaded word and RET A of one are refused (Errc::inexact).
#include "raise/raise.h"

#include <algorithm>
#include <map>
#include <string>
#include <unordered_map>
#include <variant>

#include "raise/interval_set.h"
#include "support/check.h"

namespace seccompress::raise {
namespace {

using diagram::Compare;
using diagram::Node;
using program::CodeView;
using program::Instruction;

constexpr std::size_t kMaxStates = 1U << 16;
constexpr std::size_t kMaxWork = std::size_t{1} << 25;         // intervals pushed through comparisons
constexpr std::uint32_t kDataSize = sizeof(abi::SeccompData);  // what LD LEN loads

// What the accumulator holds: a constant, or (word & mask) with a non-zero mask.
struct Accumulator {
  bool constant = true;
  abi::Word word = 0;
  std::uint32_t value = 0;  // the constant, or the mask
};

struct State {
  std::uint32_t pc;
  Accumulator a;
};

std::uint64_t key(const State& state) {
  return (std::uint64_t{state.pc} << 40U) | (std::uint64_t{state.a.word} << 33U) |
         (std::uint64_t{state.a.constant} << 32U) | state.a.value;
}

// Where control goes: a verdict, or the state with this index.
struct Goal {
  bool terminal;
  std::uint32_t value;  // verdict or state index
};

struct Exit {
  Interval values;  // of A
  Goal goal;
};

// A state's outcome: by ranges of A, or by one JSET.
struct Step {
  State state;
  bool is_set_test = false;
  std::vector<Exit> exits;  // ascending, covering every value of A
  Goal yes{}, no{};
};

tl::unexpected<Error> inexact(std::uint32_t pc, const char* what) {
  return failure(Errc::inexact,
                 "instruction " + std::to_string(pc) + ": " + what + " cannot become a decision diagram");
}

bool is_comparison(std::uint16_t code) {
  return code == (BPF_JMP | BPF_JEQ | BPF_K) || code == (BPF_JMP | BPF_JGE | BPF_K) ||
         code == (BPF_JMP | BPF_JGT | BPF_K);
}
constexpr std::uint16_t kJset = BPF_JMP | BPF_JSET | BPF_K;

bool compare_constant(const Instruction& instruction, std::uint32_t a) {
  switch (BPF_OP(instruction.code)) {
    case BPF_JEQ: return a == instruction.k;
    case BPF_JGE: return a >= instruction.k;
    case BPF_JGT: return a > instruction.k;
    default: return (a & instruction.k) != 0;
  }
}

std::uint32_t compute(std::uint16_t operation, std::uint32_t a, std::uint32_t k) {
  switch (operation) {
    case BPF_ADD: return a + k;
    case BPF_SUB: return a - k;
    case BPF_MUL: return a * k;
    case BPF_DIV: return a / k;  // check() refused k == 0
    case BPF_AND: return a & k;
    case BPF_OR: return a | k;
    case BPF_XOR: return a ^ k;
    case BPF_LSH: return a << k;  // check() refused k >= 32
    case BPF_RSH: return a >> k;
    default: return 0U - a;  // BPF_NEG
  }
}

// Does `A op= k` leave every A as it is?
bool is_identity(std::uint16_t operation, std::uint32_t k) {
  switch (operation) {
    case BPF_ADD:
    case BPF_SUB:
    case BPF_OR:
    case BPF_XOR:
    case BPF_LSH:
    case BPF_RSH: return k == 0;
    case BPF_MUL:
    case BPF_DIV: return k == 1;
    default: return false;
  }
}

class Raiser {
 public:
  Raiser(CodeView code, diagram::Store& store) : code_(code), store_(store) {}

  Result<Node> run() {
    TRY_ASSIGN(const Goal start, follow({0, {}}));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_.size() > kMaxStates) return failure(Errc::budget, "too many states in one program");
      TRY(explore(i));
    }
    build_nodes();
    TRY(store_.status());
    return node_of(start);
  }

 private:
  // Straight-line code from here to a verdict or a test of a loaded word.
  Result<Goal> follow(State state) {
    for (;;) {
      const Instruction& at = code_[state.pc];
      switch (BPF_CLASS(at.code)) {
        case BPF_LD: {
          TRY(load(at, state));
          break;
        }
        case BPF_ALU: {
          TRY(arithmetic(at, state));
          break;
        }
        case BPF_RET: return verdict(at, state);
        case BPF_JMP: {
          if (BPF_OP(at.code) == BPF_JA) {
            state.pc += 1 + at.k;
            continue;
          }
          if (BPF_SRC(at.code) == BPF_X) return inexact(state.pc, "a comparison with X");
          if (!state.a.constant) return intern(state);
          state.pc += 1U + (compare_constant(at, state.a.value) ? at.jt : at.jf);
          continue;
        }
        case BPF_LDX: return inexact(state.pc, "the X register");
        case BPF_MISC: return inexact(state.pc, "the X register");
        default: return inexact(state.pc, "scratch memory");
      }
      ++state.pc;
    }
  }

  static Result<void> load(const Instruction& at, State& state) {
    switch (BPF_MODE(at.code)) {
      case BPF_ABS: state.a = {false, static_cast<abi::Word>(at.k / 4), 0xffffffffU}; return {};
      case BPF_IMM: state.a = {true, 0, at.k}; return {};
      case BPF_LEN: state.a = {true, 0, kDataSize}; return {};
      default: return inexact(state.pc, "scratch memory");
    }
  }

  static Result<void> arithmetic(const Instruction& at, State& state) {
    const auto operation = static_cast<std::uint16_t>(BPF_OP(at.code));
    if (operation != BPF_NEG && BPF_SRC(at.code) == BPF_X) return inexact(state.pc, "arithmetic with X");
    if (state.a.constant) {
      state.a.value = compute(operation, state.a.value, at.k);
      return {};
    }
    if (operation == BPF_AND) {
      state.a.value &= at.k;
      if (state.a.value == 0) state.a = {true, 0, 0};
      return {};
    }
    if (is_identity(operation, at.k)) return {};
    return inexact(state.pc, "arithmetic on a loaded word");
  }

  static Result<Goal> verdict(const Instruction& at, const State& state) {
    if (BPF_RVAL(at.code) == BPF_K) return Goal{true, at.k};
    if (state.a.constant) return Goal{true, state.a.value};
    return inexact(state.pc, "returning a loaded word");
  }

  Goal intern(const State& state) {
    const auto [entry, is_new] = index_.try_emplace(key(state), static_cast<std::uint32_t>(steps_.size()));
    if (is_new) steps_.push_back({state, false, {}, {}, {}});
    return {false, entry->second};
  }

  Result<void> explore(std::size_t index) {
    const State state = steps_[index].state;
    const Instruction& at = code_[state.pc];
    if (at.code == kJset) {
      TRY_ASSIGN(const Goal yes, follow({state.pc + 1U + at.jt, state.a}));
      TRY_ASSIGN(const Goal no, follow({state.pc + 1U + at.jf, state.a}));
      steps_[index].is_set_test = true;
      steps_[index].yes = yes;
      steps_[index].no = no;
      return {};
    }
    return explore_ranges(index, state);
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
        TRY_ASSIGN(const Goal goal, follow({pc, state.a}));
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

  // A step's exits have a greater pc, so descending pc order finds them done.
  void build_nodes() {
    std::vector<std::uint32_t> order(steps_.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(order, std::greater<>(), [&](std::uint32_t i) { return steps_[i].state.pc; });
    nodes_.assign(steps_.size(), 0);
    for (const std::uint32_t i : order) nodes_[i] = steps_[i].is_set_test ? set_test(steps_[i]) : ranges(steps_[i]);
  }

  Node node_of(const Goal& goal) { return goal.terminal ? store_.terminal(goal.value) : nodes_[goal.value]; }

  Node set_test(const Step& step) {
    const std::uint32_t k = code_[step.state.pc].k;
    return store_.test(step.state.a.word, step.state.a.value, Compare::set, k, node_of(step.yes), node_of(step.no));
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
    const Accumulator& a = step.state.a;
    if (a.value == 0xffffffffU) return store_.select(a.word, pieces_);
    Node result = pieces_.back().node;
    for (std::size_t i = pieces_.size() - 1; i-- > 0;)
      result = store_.test(a.word, a.value, Compare::gt, pieces_[i].last, result, pieces_[i].node);
    return result;
  }

  CodeView code_;
  diagram::Store& store_;
  std::unordered_map<std::uint64_t, std::uint32_t> index_;
  std::vector<Step> steps_;
  std::vector<Node> nodes_;
  std::vector<diagram::Piece> pieces_;
  std::size_t work_ = 0;
};

}  // namespace

Result<Node> raise(CodeView code, diagram::Store& store) { return Raiser(code, store).run(); }

}  // namespace seccompress::raise
