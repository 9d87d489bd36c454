// SPDX-License-Identifier: Apache-2.0
// Input: a policy. Output: its function as a diagram. Entry point: lower.
//
// Method, per architecture: every (number, rule) pair is one Call; sorted by number, each run of calls with
// one number becomes one argument diagram:
//   an unconditional call of the run decides alone (the first of several);
//   else the conditional ones are tried strictest first, folded from the loosest up.
// The numbers then become pieces of one select over nr, the architectures pieces of one over arch.
//
// Long value sets (thousands of EQ rules for one argument) go into one select instead of one test each: a
// test rebuilds the path above it every time.
//
// Weakness: thousands of other conditions on one number cost a pass over the diagram each; the store's limit
// ends that (Errc::budget).
#include "lower/lower.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "abi/multiplex.h"
#include "abi/syscalls.h"
#include "lower/condition.h"
#include "policy/precedence.h"

namespace seccompress::lower {
namespace {

using diagram::Node;
using diagram::Piece;

constexpr abi::Verdict kEnosys = abi::kErrno | 38;

// One rule as it applies to one number. A multiplexed one has argument 0 compared with `call` in place of
// the rule's own conditions on it.
struct Call {
  std::uint32_t number = 0;
  std::uint32_t order = 0;  // of the rule in the policy
  const policy::Rule* rule = nullptr;
  std::optional<std::uint32_t> multiplexed;

  bool unconditional() const { return !multiplexed && rule->all_of.empty(); }
};

class PieceList {
 public:
  // Everything up to and including `last` that is not yet covered.
  void up_to(std::uint32_t last, Node node) {
    if (covered_ && pieces_.back().last >= last) return;
    covered_ = true;
    if (!pieces_.empty() && pieces_.back().node == node)
      pieces_.back().last = last;
    else
      pieces_.push_back({last, node});
  }
  // `filler` below `value`, then `node` at it.
  void at(std::uint32_t value, Node node, Node filler) {
    if (value > 0 && (!covered_ || pieces_.back().last < value - 1)) up_to(value - 1, filler);
    up_to(value, node);
  }
  std::span<const Piece> pieces() const { return pieces_; }

 private:
  std::vector<Piece> pieces_;
  bool covered_ = false;
};

std::uint32_t high(std::uint64_t value) { return static_cast<std::uint32_t>(value >> 32); }
std::uint32_t low(std::uint64_t value) { return static_cast<std::uint32_t>(value); }

// argument `index` (its low word alone: low_word) is one of `values` (sorted, unique) ? yes : no
Node one_of(diagram::Store& store, unsigned index, std::span<const std::uint64_t> values, bool low_word, Node yes,
            Node no) {
  PieceList highs;
  for (std::size_t begin = 0; begin < values.size();) {
    std::size_t end = begin;
    PieceList lows;
    for (; end < values.size() && high(values[end]) == high(values[begin]); ++end) lows.at(low(values[end]), yes, no);
    lows.up_to(UINT32_MAX, no);
    if (low_word) return store.select(abi::arg_low(index), lows.pieces());
    highs.at(high(values[begin]), store.select(abi::arg_low(index), lows.pieces()), no);
    begin = end;
  }
  highs.up_to(UINT32_MAX, no);
  return store.select(abi::arg_high(index), highs.pieces());
}

struct Range {
  std::uint32_t first, last;
  bool has(std::uint32_t number) const { return first <= number && number <= last; }
};

class PolicyLowering {
 public:
  PolicyLowering(const policy::Policy& policy, diagram::Store& store)
      : policy_(policy),
        store_(store),
        default_(store.terminal(policy.default_verdict)),
        bad_arch_(store.terminal(policy.bad_arch_verdict)) {
    for (const policy::Rule& rule : policy.rules)
      if (rule.verdict != policy.default_verdict)
        for (const std::string& name : rule.names) names_.push_back(abi::syscall_numbers(name));
  }

  Result<Node> run() {
    std::vector<std::uint32_t> audits;
    for (const abi::Arch arch : policy_.architectures) audits.push_back(abi::facts(arch).audit);
    std::sort(audits.begin(), audits.end());
    audits.erase(std::unique(audits.begin(), audits.end()), audits.end());
    PieceList pieces;
    for (const std::uint32_t audit : audits) {
      TRY_ASSIGN(const Node node, lower_audit(audit));
      pieces.at(audit, node, bad_arch_);
    }
    pieces.up_to(UINT32_MAX, bad_arch_);
    const Node node = store_.select(abi::kArch, pieces.pieces());
    TRY(store_.status());
    return node;
  }

 private:
  bool lists(abi::Arch arch) const {
    return std::find(policy_.architectures.begin(), policy_.architectures.end(), arch) != policy_.architectures.end();
  }

  // All numbers of one AUDIT word; x86_64 and x32 share theirs.
  Result<Node> lower_audit(std::uint32_t audit) {
    PieceList pieces;
    if (audit == abi::facts(abi::Arch::x86_64).audit) {
      TRY(add_part(pieces, abi::Arch::x86_64, {0, abi::kX32Bit - 1}));
      TRY(add_part(pieces, abi::Arch::x32, {abi::kX32Bit, UINT32_MAX - 1}));
      // -1, a call that a tracer cancelled, is either's.
      TRY(add_part(pieces, lists(abi::Arch::x86_64) ? abi::Arch::x86_64 : abi::Arch::x32, {UINT32_MAX, UINT32_MAX}));
    } else {
      for (const abi::Arch arch : policy_.architectures)
        if (abi::facts(arch).audit == audit) TRY(add_numbers(pieces, arch, {0, UINT32_MAX}));
      pieces.up_to(UINT32_MAX, default_);
    }
    return add_enosys(audit, store_.select(abi::kNr, pieces.pieces()));
  }

  // At the first rule for the number with which the limit was reached.
  static tl::unexpected<Error> too_many(const Call& call, abi::Arch arch, const Error& error) {
    const Location& at = call.rule->where;
    const std::string place =
        at.file.empty()
            ? ""
            : at.file + (at.line > 0 ? ":" + std::to_string(at.line) + ":" + std::to_string(at.column) : "") + ": ";
    return failure(error.code, place + "at the rules for " + abi::syscall_label(abi::facts(arch).audit, call.number) +
                                   " on " + std::string(abi::arch_name(arch)) + ", " + error.what);
  }

  // x86_64 and x32 share the number space: bit 30 tells them apart.
  Result<void> add_part(PieceList& pieces, abi::Arch arch, Range numbers) {
    if (lists(arch)) TRY(add_numbers(pieces, arch, numbers));
    pieces.up_to(numbers.last, lists(arch) ? default_ : bad_arch_);
    return {};
  }

  Result<void> add_numbers(PieceList& pieces, abi::Arch arch, Range numbers) {
    low_words_ = abi::is_32_bit(abi::facts(arch).audit);
    TRY_ASSIGN(const std::vector<Call> calls, calls_of(arch, numbers));
    for (std::size_t begin = 0; begin < calls.size();) {
      std::size_t end = begin;
      while (end < calls.size() && calls[end].number == calls[begin].number) ++end;
      pieces.at(calls[begin].number, lower_calls({calls.data() + begin, end - begin}), default_);
      if (const auto fits = store_.status(); !fits) return too_many(calls[begin], arch, fits.error());
      begin = end;
    }
    return {};
  }

  // Sorted by number, then by rule.
  Result<std::vector<Call>> calls_of(abi::Arch arch, Range numbers) {
    std::vector<Call> calls;
    calls.reserve(names_.size());
    const bool multiplexes = abi::has_multiplexed_calls(arch);
    auto name = names_.begin();
    for (std::size_t i = 0; i < policy_.rules.size(); ++i) {
      const policy::Rule& rule = policy_.rules[i];
      if (rule.verdict == policy_.default_verdict) continue;
      const auto order = static_cast<std::uint32_t>(i);
      for (const std::uint32_t number : rule.numbers)
        if (numbers.has(number)) calls.push_back({number, order, &rule, {}});
      for (const std::string& text : rule.names) {
        const auto number = (name++)->on(arch);
        if (number && numbers.has(*number)) calls.push_back({*number, order, &rule, {}});
        if (!multiplexes) continue;
        if (const auto one = abi::multiplexed_call(arch, text)) calls.push_back({one->number, order, &rule, one->call});
      }
      if (calls.size() > kMaxCalls)
        return failure(Errc::budget, "the policy has more than " + std::to_string(kMaxCalls) +
                                         " rules for the calls of one architecture");
    }
    std::stable_sort(calls.begin(), calls.end(), [](const Call& a, const Call& b) { return a.number < b.number; });
    return calls;
  }

  // Most numbers have the verdict of the number before.
  Node terminal(abi::Verdict verdict) {
    if (!last_terminal_ || last_terminal_->first != verdict) last_terminal_ = {verdict, store_.terminal(verdict)};
    return last_terminal_->second;
  }

  Node lower_calls(std::span<const Call> calls) {
    for (const Call& call : calls)
      if (call.unconditional()) return terminal(call.rule->verdict);
    std::vector<Call> loosest_first(calls.begin(), calls.end());
    if (have_other_verdicts(calls)) sort_loosest_first(loosest_first);
    Node node = default_;
    for (std::size_t begin = 0; begin < loosest_first.size();) {
      const std::size_t count = value_set({loosest_first.data() + begin, loosest_first.size() - begin});
      node = count >= 2 ? lower_value_set({loosest_first.data() + begin, count}, node)
                        : lower_call(loosest_first[begin], node);
      begin += std::max<std::size_t>(count, 1);
    }
    return node;
  }

  // Rules with one verdict may be asked in any order.
  static bool have_other_verdicts(std::span<const Call> calls) {
    return std::any_of(calls.begin(), calls.end(),
                       [&](const Call& call) { return call.rule->verdict != calls[0].rule->verdict; });
  }

  // Folding goes from the back of the order of precedence.
  static void sort_loosest_first(std::vector<Call>& calls) {
    std::vector<const policy::Rule*> rules;
    for (const Call& call : calls) rules.push_back(call.rule);
    std::vector<Call> sorted;
    for (const std::size_t i : policy::order_of_precedence(rules)) sorted.push_back(calls[i]);
    calls.assign(sorted.rbegin(), sorted.rend());
  }

  // How many calls from the first on are single EQ conditions on one argument with one verdict?
  static std::size_t value_set(std::span<const Call> calls) {
    const auto is_value = [](const Call& call) {
      if (call.multiplexed || call.rule->all_of.size() != 1) return false;
      return call.rule->all_of[0].op == policy::Operator::eq && !call.rule->all_of[0].low_word;
    };
    std::size_t count = 0;
    while (count < calls.size() && is_value(calls[count]) && calls[count].rule->verdict == calls[0].rule->verdict &&
           calls[count].rule->all_of[0].index == calls[0].rule->all_of[0].index)
      ++count;
    return count;
  }

  Node lower_value_set(std::span<const Call> calls, Node otherwise) {
    std::vector<std::uint64_t> values;
    values.reserve(calls.size());
    for (const Call& call : calls)
      values.push_back(call.rule->all_of[0].value & (low_words_ ? UINT32_MAX : UINT64_MAX));
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    const Node yes = store_.terminal(calls[0].rule->verdict);
    return one_of(store_, calls[0].rule->all_of[0].index, values, low_words_, yes, otherwise);
  }

  // The rule's conditions, innermost argument last, so that each test is put on top of smaller ones.
  Node lower_call(const Call& call, Node otherwise) {
    std::vector<policy::Condition> conditions = call.rule->all_of;
    if (call.multiplexed) {
      std::erase_if(conditions, [](const policy::Condition& condition) { return condition.index == 0; });
      conditions.push_back(
          {.index = 0, .op = policy::Operator::eq, .value = *call.multiplexed, .value_two = 0, .where = {}});
    }
    std::stable_sort(conditions.begin(), conditions.end(),
                     [](const policy::Condition& a, const policy::Condition& b) { return a.index > b.index; });
    Node node = store_.terminal(call.rule->verdict);
    for (policy::Condition& condition : conditions) {
      condition.low_word = condition.low_word || low_words_;
      node = lower_condition(store_, condition, node, otherwise);
    }
    return node;
  }

  // runc's stub stands before everything else (policy.h, Policy::enosys_above).
  Node add_enosys(std::uint32_t audit, Node rest) {
    const Node enosys = store_.terminal(kEnosys);
    for (const policy::Policy::EnosysAbove& limit : policy_.enosys_above) {
      if (abi::facts(limit.arch).audit != audit) continue;
      Node limited = store_.test(abi::kNr, UINT32_MAX, diagram::Compare::gt, limit.last, enosys, rest);
      if (limit.arch == abi::Arch::s390 || limit.arch == abi::Arch::s390x)
        limited = store_.test(abi::kNr, UINT32_MAX, diagram::Compare::eq, 0, enosys, limited);
      if (limit.arch == abi::Arch::x86_64)
        limited = store_.test(abi::kNr, abi::kX32Bit, diagram::Compare::set, abi::kX32Bit, rest, limited);
      if (limit.arch == abi::Arch::x32)
        limited = store_.test(abi::kNr, abi::kX32Bit, diagram::Compare::set, abi::kX32Bit, limited, rest);
      rest = limited;
    }
    return rest;
  }

  const policy::Policy& policy_;
  diagram::Store& store_;
  Node default_;
  Node bad_arch_;
  std::vector<abi::SyscallNumbers> names_;  // of all rules that are not the default's, in their order
  std::optional<std::pair<abi::Verdict, Node>> last_terminal_;
  bool low_words_ = false;  // the architecture being lowered has 32-bit arguments
};

}  // namespace

Result<Node> lower(const policy::Policy& policy, diagram::Store& store) { return PolicyLowering(policy, store).run(); }

}  // namespace seccompress::lower
