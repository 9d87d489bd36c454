// SPDX-License-Identifier: Apache-2.0
// See symbolic.h.
#include "verify/symbolic.h"

#include <algorithm>
#include <bit>

#include "support/check.h"

namespace seccompress::verify {
namespace {

using program::Instruction;

constexpr std::uint32_t kMaxFreshWords = 1000;
constexpr std::size_t kMaxPending = 2048;  // states that wait
constexpr std::size_t kMaxValues = std::size_t{1} << 16;
constexpr std::uint32_t kRelationOperation = 0x1000;  // a comparison as an operation; + Relation

std::uint32_t calculate_constant(std::uint32_t operation, std::uint32_t a, std::uint32_t operand) {
  switch (operation) {
    case BPF_ADD: return a + operand;
    case BPF_SUB: return a - operand;
    case BPF_MUL: return a * operand;
    case BPF_DIV: return a / operand;
    case BPF_AND: return a & operand;
    case BPF_OR: return a | operand;
    case BPF_XOR: return a ^ operand;
    case BPF_LSH: return a << (operand & 31);
    case BPF_RSH: return a >> (operand & 31);
    default: return 0U - a;  // BPF_NEG
  }
}

}  // namespace

void add_region(Bdd& bdd, Regions& regions, abi::Verdict verdict, Edge where) {
  if (where == kFalse) return;
  for (Region& region : regions) {
    if (region.verdict != verdict) continue;
    region.where = bdd.disjunction(region.where, where);
    return;
  }
  regions.push_back({verdict, where});
}

void Executor::enter(const Cell& cell, Mode mode, bool plane) {
  cell_ = cell;
  mode_ = mode;
  plane_ = plane;
  used_plane_ = false;
  trouble_ = Trouble::none;
  pending_.clear();
  bits_.clear();
  bits_index_.clear();
  memories_.clear();
  fresh_words_.clear();
  fresh_count_ = 0;
}

Edge Executor::inside() {
  if (!plane_) return kTrue;
  const auto between = [&](abi::Word word, Interval i) {
    return bdd_.conjunction(bdd_.compare(word, 0xffffffffU, Relation::greater_equal, i.first),
                            negate(bdd_.compare(word, 0xffffffffU, Relation::greater, i.last)));
  };
  Edge arch = kFalse;
  for (const Interval& i : cell_.arch->intervals) arch = bdd_.disjunction(arch, between(abi::kArch, i));
  return bdd_.conjunction(arch, between(abi::kNr, cell_.nr));
}

// ---- Values -------------------------------------------------------------------------------------------

// A value about to be used: arch and nr become constants where the cell has one of them only.
Executor::Value Executor::resolve(Value value) {
  if (value.kind != Value::Kind::word) return value;
  if (value.data == 0) return constant(0);
  if (value.word != abi::kNr && value.word != abi::kArch) return value;
  used_plane_ = true;
  if (value.word == abi::kNr && cell_.nr.first == cell_.nr.last) return constant(cell_.nr.first & value.data);
  if (value.word == abi::kArch && cell_.arch->single()) return constant(cell_.arch->representative() & value.data);
  return value;
}

Executor::Bits Executor::bits_of(Value value) {
  value = resolve(value);
  if (value.kind == Value::Kind::bits) return bits_[value.data];
  Bits bits;
  bits.fill(kFalse);
  const bool of_plane = value.kind == Value::Kind::word && (value.word == abi::kNr || value.word == abi::kArch);
  if (of_plane && !plane_) {
    trouble_ = Trouble::needs_plane;
    return bits;
  }
  for (unsigned i = 0; i < 32; ++i) {
    if ((value.data >> i & 1) == 0) continue;
    bits[i] = value.is_constant() ? kTrue : bdd_.bit(value.word, i);
  }
  return bits;
}

Executor::Value Executor::value_of(const Bits& bits) {
  if (std::all_of(bits.begin(), bits.end(), [](Edge edge) { return edge >> 1 == 0; })) {
    std::uint32_t value = 0;
    for (unsigned i = 0; i < 32; ++i) value |= (bits[i] == kTrue ? 1U : 0U) << i;
    return constant(value);
  }
  const auto hash_of = [&](const Bits& all) {
    std::uint64_t hash = 0;
    for (const Edge edge : all) hash = mix(hash + edge + 1);
    return hash;
  };
  if (bits_.size() >= kMaxValues) trouble_ = Trouble::overflow;
  const auto next = static_cast<std::uint32_t>(bits_.size());
  const std::uint32_t found = bits_index_.find_or_file(
      hash_of(bits), next, [&](std::uint32_t at) { return bits_[at] == bits; },
      [&](std::uint32_t at) { return hash_of(bits_[at]); });
  if (found == next) bits_.push_back(bits);
  budget_.spend(4);
  return {Value::Kind::bits, 0, found};
}

Executor::Value Executor::merge(Edge condition, Value yes, Value no) {
  if (yes == no) return yes;
  const Bits a = bits_of(yes), b = bits_of(no);
  Bits both;
  for (unsigned i = 0; i < 32; ++i) both[i] = bdd_.choose(condition, a[i], b[i]);
  return value_of(both);
}

Executor::Value Executor::fresh(std::uint32_t operation, Value a, Value x) {
  const auto number = [&](Value value) {
    value = resolve(value);
    if (value.is_constant()) return std::pair(0U, value.data);
    return std::pair(1U, value_of(bits_of(value)).data);
  };
  const auto [a_kind, a_number] = number(a);
  const auto [x_kind, x_number] = number(x);
  const Fresh wanted{operation << 2 | a_kind << 1 | x_kind, a_number, x_number};
  std::uint32_t at = 0;
  while (at < fresh_words_.size() && !(fresh_words_[at].operation == wanted.operation &&
                                       fresh_words_[at].a == wanted.a && fresh_words_[at].x == wanted.x))
    ++at;
  if (at == fresh_words_.size()) {
    if (at == kMaxFreshWords) {
      trouble_ = Trouble::overflow;
      return constant(0);
    }
    fresh_words_.push_back(wanted);
    fresh_count_ = at + 1;
  }
  budget_.spend(at / 8);
  Bits bits;
  for (unsigned i = 0; i < 32; ++i) bits[i] = bdd_.bit(kFreshWords + at, i);
  return value_of(bits);
}

// ---- States -------------------------------------------------------------------------------------------

Edge Executor::settle(Condition& condition) {
  if (condition.focus != kNoFocus) {
    condition.base = bdd_.conjunction(condition.base, bdd_.member(condition.focus, condition.within.intervals()));
    condition = Condition(condition.base);
  }
  return condition.base;
}

// there or other, while both are sets of one word under the same base.
bool Executor::unite(Condition& there, Condition& other) {
  if (there.focus == kNoFocus || there.focus != other.focus || there.base != other.base) return false;
  budget_.spend(there.within.intervals().size() / 8);
  there.within.unite(other.within);
  return true;
}

void Executor::finish(abi::Verdict verdict, Condition when) {
  verdict = abi::normalize(verdict);
  for (Result& result : results_)
    if (result.verdict == verdict && unite(result.when, when)) return;
  results_.push_back({verdict, std::move(when)});
}

Regions Executor::collect() {
  Regions regions;
  for (Result& result : results_) add_region(bdd_, regions, result.verdict, settle(result.when));
  results_.clear();
  return regions;
}

void Executor::deliver(State state) {
  if (state.when.base == kFalse) return;
  if (subject_->forgets_a(state.pc)) state.a = constant(0);
  const auto place =
      std::find_if(pending_.rbegin(), pending_.rend(), [&](const State& other) { return other.pc >= state.pc; });
  if (place == pending_.rend() || place->pc != state.pc) {
    pending_.insert(place.base(), std::move(state));
    return;
  }
  if (!mode_.separate) return merge_into(*place, state);
  for (auto other = place; other != pending_.rend() && other->pc == state.pc; ++other) {
    budget_.spend(1);
    if (other->a == state.a && other->x == state.x && other->memory == state.memory) return merge_into(*other, state);
  }
  if (pending_.size() > kMaxPending) trouble_ = Trouble::overflow;
  pending_.insert(place.base(), std::move(state));
}

void Executor::merge_into(State& there, State& state) {
  const bool same_values = there.a == state.a && there.x == state.x && there.memory == state.memory;
  if (same_values && unite(there.when, state.when)) return;
  const Edge region = settle(state.when);
  there.a = merge(region, state.a, there.a);
  there.x = merge(region, state.x, there.x);
  if (there.memory != state.memory) {
    Memory both{};
    for (std::size_t i = 0; i < both.size(); ++i) {
      const Value mine = state.memory == kNoMemory ? Value{} : memories_[state.memory][i];
      const Value other = there.memory == kNoMemory ? Value{} : memories_[there.memory][i];
      both[i] = merge(region, mine, other);
    }
    there.memory = static_cast<std::uint32_t>(memories_.size());
    memories_.push_back(both);
  }
  there.when.base = bdd_.disjunction(settle(there.when), region);
}

Regions Executor::run(const Subject& subject, std::uint32_t pc, Held held, Edge region) {
  explore(subject, pc, held, region);
  return collect();
}

void Executor::explore(const Subject& subject, std::uint32_t pc, Held held, Edge region) {
  subject_ = &subject;
  computed_.clear();
  pending_.clear();
  results_.clear();
  State first{pc, Condition(region), constant(held.bits), constant(0), kNoMemory};
  if (held.word != Held::kConstant) first.a = {Value::Kind::word, held.word, held.bits};
  deliver(std::move(first));
  while (!pending_.empty() && trouble() == Trouble::none) {
    State state = std::move(pending_.back());
    pending_.pop_back();
    budget_.spend(1 + state.when.within.intervals().size() / 8);
    if (budget_.exhausted() || memories_.size() > kMaxValues) trouble_ = Trouble::overflow;
    step(state);
  }
}

void Executor::step(State& state) {
  const Instruction& insn = subject_->at(state.pc);
  switch (BPF_CLASS(insn.code)) {
    case BPF_RET:
      if (insn.code == (BPF_RET | BPF_K)) return finish(insn.k, std::move(state.when));
      return return_value(state);
    case BPF_JMP: return jump(state, insn);
    case BPF_ALU: return arithmetic(state, insn);
    default: break;
  }
  ++state.pc;
  CHECK(move(state, insn));
  deliver(std::move(state));
}

// LD, LDX, ST, STX, MISC.
bool Executor::move(State& state, const Instruction& insn) {
  const auto cell = [&] { return state.memory == kNoMemory ? Value{} : memories_[state.memory][insn.k]; };
  const auto store = [&](Value value) {
    Memory memory = state.memory == kNoMemory ? Memory{} : memories_[state.memory];
    memory[insn.k] = value;
    state.memory = static_cast<std::uint32_t>(memories_.size());
    memories_.push_back(memory);
  };
  switch (insn.code) {
    case BPF_LD | BPF_W | BPF_ABS:
      state.a = {Value::Kind::word, static_cast<std::uint8_t>(insn.k / 4), 0xffffffffU};
      return true;
    case BPF_LD | BPF_IMM: state.a = constant(insn.k); return true;
    case BPF_LD | BPF_W | BPF_LEN: state.a = constant(sizeof(abi::SeccompData)); return true;
    case BPF_LD | BPF_MEM: state.a = cell(); return true;
    case BPF_LDX | BPF_IMM: state.x = constant(insn.k); return true;
    case BPF_LDX | BPF_W | BPF_LEN: state.x = constant(sizeof(abi::SeccompData)); return true;
    case BPF_LDX | BPF_MEM: state.x = cell(); return true;
    case BPF_ST: store(state.a); return true;
    case BPF_STX: store(state.x); return true;
    case BPF_MISC | BPF_TAX: state.x = state.a; return true;
    case BPF_MISC | BPF_TXA: state.a = state.x; return true;
    default: return false;
  }
}

// ---- Tests --------------------------------------------------------------------------------------------

void Executor::jump(State& state, const Instruction& insn) {
  if (BPF_OP(insn.code) == BPF_JA || insn.jt == insn.jf) {
    state.pc += 1 + (BPF_OP(insn.code) == BPF_JA ? insn.k : insn.jt);
    return deliver(std::move(state));
  }
  const Relation relation = relation_of(insn.code);
  const Value operand = BPF_SRC(insn.code) == BPF_X ? resolve(state.x) : constant(insn.k);
  State no = state;
  State yes{state.pc, Condition(), state.a, state.x, state.memory};
  if (!operand.is_constant() || !split(relation, operand.data, yes, no)) {
    const Edge region = settle(no.when);
    const Edge when = condition(state.a, operand, relation);
    yes.when.base = bdd_.conjunction(region, when);
    no.when.base = bdd_.conjunction(region, negate(when));
  }
  yes.pc += 1U + insn.jt;
  no.pc += 1U + insn.jf;
  deliver(std::move(yes));
  deliver(std::move(no));
}

// A range test of a whole word moves values from no's set to yes's.
bool Executor::split(Relation relation, std::uint32_t constant, State& yes, State& no) {
  const Value a = resolve(no.a);
  const bool of_plane = a.word == abi::kNr || a.word == abi::kArch;
  if (a.kind != Value::Kind::word || a.data != 0xffffffffU || relation == Relation::any_bit || of_plane) return false;
  if (no.when.focus != a.word) {
    settle(no.when);
    no.when.focus = a.word;
    no.when.within = IntervalSet::all();
  }
  yes.when.base = no.when.base;
  yes.when.focus = a.word;
  yes.when.within = no.when.within.extract(relation, constant);
  if (yes.when.within.is_empty()) yes.when.base = kFalse;
  if (no.when.within.is_empty()) no.when.base = kFalse;
  return true;
}

Edge Executor::condition(Value a, Value operand, Relation relation) {
  a = resolve(a);
  operand = resolve(operand);
  if (operand.is_constant()) return compare_constant(a, relation, operand.data);
  if (a == operand) {
    if (relation != Relation::any_bit) return relation == Relation::greater ? kFalse : kTrue;
    return negate(compare_constant(a, Relation::equal, 0));
  }
  if (mode_.abstract) {
    const Value word = fresh(kRelationOperation + static_cast<std::uint32_t>(relation), a, operand);
    return bits_of(word)[0];
  }
  return compare_bits(bits_of(a), bits_of(operand), relation);
}

Edge Executor::compare_constant(Value a, Relation relation, std::uint32_t constant) {
  const auto truth = [](bool known) { return known ? kTrue : kFalse; };
  if (a.is_constant()) return truth(holds(relation, a.data, constant));
  if (a.kind == Value::Kind::word) {
    std::optional<bool> known;
    if (a.word == abi::kNr) known = holds_for_all(relation, cell_.nr.first, cell_.nr.last, a.data, constant);
    if (a.word == abi::kArch) known = cell_.arch->holds(relation, a.data, constant);
    if (known) return truth(*known);
    if ((a.word != abi::kNr && a.word != abi::kArch) || plane_) return bdd_.compare(a.word, a.data, relation, constant);
  }
  Bits operand;
  for (unsigned i = 0; i < 32; ++i) operand[i] = truth((constant >> i & 1) != 0);
  return compare_bits(bits_of(a), operand, relation);
}

Edge Executor::equal_bits(const Bits& a, const Bits& x) {
  Edge equal = kTrue;
  for (unsigned i = 32; i-- > 0 && equal != kFalse;)
    equal = bdd_.conjunction(equal, negate(bdd_.difference(a[i], x[i])));
  return equal;
}

Edge Executor::compare_bits(const Bits& a, const Bits& x, Relation relation) {
  if (relation == Relation::equal) return equal_bits(a, x);
  if (relation == Relation::any_bit) {
    Edge any = kFalse;
    for (unsigned i = 0; i < 32; ++i) any = bdd_.disjunction(any, bdd_.conjunction(a[i], x[i]));
    return any;
  }
  Edge result = relation == Relation::greater_equal ? kTrue : kFalse;
  for (unsigned i = 0; i < 32; ++i)  // the highest differing bit decides
    result = bdd_.choose(bdd_.difference(a[i], x[i]), a[i], result);
  return result;
}

// ---- Arithmetic ---------------------------------------------------------------------------------------

void Executor::arithmetic(State& state, const Instruction& insn) {
  const std::uint32_t operation = BPF_OP(insn.code);
  Value operand = BPF_SRC(insn.code) == BPF_X ? resolve(state.x) : constant(insn.k);
  if (operation == BPF_NEG) operand = constant(0);            // its k is not looked at
  if (operation == BPF_DIV && BPF_SRC(insn.code) == BPF_X) {  // a division by 0 ends the program with 0
    const Edge zero = condition(operand, constant(0), Relation::equal);
    const Edge region = settle(state.when);
    if (zero != kFalse) finish(0, Condition(bdd_.conjunction(region, zero)));
    state.when.base = bdd_.conjunction(region, negate(zero));
    if (state.when.base == kFalse) return;
  }
  state.a = calculate(operation, resolve(state.a), operand);
  ++state.pc;
  deliver(std::move(state));
}

Executor::Value Executor::calculate(std::uint32_t operation, Value a, Value operand) {
  if (a.is_constant() && operand.is_constant()) return constant(calculate_constant(operation, a.data, operand.data));
  if (operation == BPF_AND && operand.is_constant() && a.kind == Value::Kind::word)
    return {Value::Kind::word, a.word, a.data & operand.data};
  if (operation == BPF_MUL && a.is_constant()) std::swap(a, operand);
  const bool power = operand.is_constant() && std::has_single_bit(operand.data);
  switch (operation) {
    case BPF_AND:
    case BPF_OR:
    case BPF_XOR:
      if (mode_.abstract && !a.is_constant() && !operand.is_constant()) return fresh(operation, a, operand);
      break;
    case BPF_LSH:
    case BPF_RSH:
      if (!operand.is_constant()) return mode_.abstract ? fresh(operation, a, operand) : shift(operation, a, operand);
      break;
    case BPF_MUL:
    case BPF_DIV:
      if (!power && operation == BPF_MUL && operand.is_constant() && !mode_.abstract) return product(a, operand.data);
      if (!power) return fresh(operation, a, operand);
      operation = operation == BPF_MUL ? BPF_LSH : BPF_RSH;
      operand = constant(static_cast<std::uint32_t>(std::countr_zero(operand.data)));
      break;
    default:
      if (mode_.abstract) return fresh(operation, a, operand);
  }
  return calculate_bits(operation, a, operand);
}

// By the bits of the operand, modulo 32.
Executor::Value Executor::shift(std::uint32_t operation, Value a, Value operand) {
  const Bits by = bits_of(operand);
  for (unsigned i = 0; i < 5; ++i) a = merge(by[i], calculate(operation, a, constant(1U << i)), a);
  return a;
}

Executor::Value Executor::product(Value a, std::uint32_t factor) {
  Value sum = constant(0);
  for (unsigned i = 0; i < 32 && trouble() == Trouble::none; ++i) {
    if ((factor >> i & 1U) == 0) continue;
    sum = calculate(BPF_ADD, sum, calculate(BPF_LSH, a, constant(i)));
  }
  return sum;
}

Executor::Value Executor::calculate_bits(std::uint32_t operation, Value a, Value operand) {
  const Bits left = bits_of(a);
  const Bits right = bits_of(operand);
  Bits result;
  result.fill(kFalse);
  const std::uint32_t shift = operand.data & 31;
  for (unsigned i = 0; i < 32; ++i) {
    switch (operation) {
      case BPF_AND: result[i] = bdd_.conjunction(left[i], right[i]); break;
      case BPF_OR: result[i] = bdd_.disjunction(left[i], right[i]); break;
      case BPF_XOR: result[i] = bdd_.difference(left[i], right[i]); break;
      case BPF_LSH: result[i] = i >= shift ? left[i - shift] : kFalse; break;
      case BPF_RSH: result[i] = i + shift < 32 ? left[i + shift] : kFalse; break;
      default: result[i] = negate(operation == BPF_NEG ? left[i] : right[i]); break;  // for a - b = a + ~b + 1
    }
  }
  Bits zero;
  zero.fill(kFalse);
  if (operation == BPF_ADD) return add(left, right, kFalse);
  if (operation == BPF_SUB) return add(left, result, kTrue);
  if (operation == BPF_NEG) return add(zero, result, kTrue);
  return value_of(result);
}

Executor::Value Executor::add(const Bits& a, const Bits& x, Edge carry) {
  Bits sum;
  for (unsigned i = 0; i < 32; ++i) {
    const Edge half = bdd_.difference(a[i], x[i]);
    sum[i] = bdd_.difference(half, carry);
    carry = bdd_.choose(half, carry, a[i]);
  }
  return value_of(sum);
}

// ---- Verdicts -----------------------------------------------------------------------------------------

void Executor::return_value(State& state) {
  const Value a = resolve(state.a);
  if (a.is_constant()) return finish(a.data, std::move(state.when));
  if (mode_.words) {
    computed_.push_back({bits_of(a), settle(state.when)});
    return;
  }
  split_verdicts(bits_of(a), 31, 0, settle(state.when));
}

}  // namespace seccompress::verify
