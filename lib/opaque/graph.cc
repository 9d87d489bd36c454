// SPDX-License-Identifier: Apache-2.0
#include "opaque/graph.h"

#include <algorithm>
#include <array>

#include "opaque/machine.h"
#include "support/check.h"

namespace seccompress::opaque {
namespace {

constexpr std::size_t kMaxOperations = std::size_t{1} << 19;

struct Machine {
  std::uint32_t a = 0, x = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> cells{};
};

// False: a division by 0.
bool execute(Machine& machine, const Operation& op, const abi::SeccompData& data) {
  const std::uint32_t operand = BPF_SRC(op.code) == BPF_X ? machine.x : op.k;
  const std::uint32_t cell = op.k % BPF_MEMWORDS;
  switch (BPF_CLASS(op.code)) {
    case BPF_LD:
    case BPF_LDX: {
      std::uint32_t value = op.k;
      if (BPF_MODE(op.code) == BPF_ABS) value = abi::read_word(data, static_cast<abi::Word>(op.k / 4 % abi::kWords));
      if (BPF_MODE(op.code) == BPF_LEN) value = sizeof(abi::SeccompData);
      if (BPF_MODE(op.code) == BPF_MEM) value = machine.cells[cell];
      (BPF_CLASS(op.code) == BPF_LD ? machine.a : machine.x) = value;
      return true;
    }
    case BPF_ST: machine.cells[cell] = machine.a; return true;
    case BPF_STX: machine.cells[cell] = machine.x; return true;
    case BPF_MISC: (op.code == (BPF_MISC | BPF_TAX) ? machine.x = machine.a : machine.a = machine.x); return true;
    default:
      if (BPF_OP(op.code) == BPF_DIV && operand == 0) return false;
      machine.a = calculate(BPF_OP(op.code), machine.a, operand);
      return true;
  }
}

}  // namespace

Effect effect_of(const program::Instruction& insn) {
  switch (BPF_CLASS(insn.code)) {
    case BPF_LD: return {BPF_MODE(insn.code) == BPF_MEM ? reads_cell(insn.k) : 0, kReadsA};
    case BPF_LDX: return {BPF_MODE(insn.code) == BPF_MEM ? reads_cell(insn.k) : 0, kReadsX};
    case BPF_ST: return {kReadsA, reads_cell(insn.k)};
    case BPF_STX: return {kReadsX, reads_cell(insn.k)};
    case BPF_MISC: return insn.code == (BPF_MISC | BPF_TAX) ? Effect{kReadsA, kReadsX} : Effect{kReadsX, kReadsA};
    default: {  // BPF_ALU
      const bool by_x = BPF_SRC(insn.code) == BPF_X && BPF_OP(insn.code) != BPF_NEG;
      return {kReadsA | (by_x ? kReadsX : 0), kReadsA};
    }
  }
}

std::size_t Graph::Hash::operator()(const Operation& op) const {
  std::uint64_t hash = (std::uint64_t{op.code} << 32U) ^ op.k;
  hash = hash * 0x9e3779b97f4a7c15ULL ^ ((std::uint64_t{op.yes} << 32U) | op.no);
  hash *= 0xff51afd7ed558ccdULL;
  return hash ^ (hash >> 32U);
}

Result<void> Graph::status() const {
  if (!exhausted_) return {};
  return failure(Errc::budget, "the filters carry more than " + std::to_string(kMaxOperations) + " operations");
}

OpId Graph::intern(const Operation& operation, std::uint32_t reads) {
  if (operations_.size() >= kMaxOperations) exhausted_ = true;
  if (exhausted_) return 0;
  const auto [entry, is_new] = index_.try_emplace(operation, static_cast<OpId>(operations_.size()));
  if (is_new) {
    operations_.push_back(operation);
    reads_.push_back(reads);
  }
  return entry->second;
}

OpId Graph::ret(abi::Verdict verdict) { return intern({BPF_RET | BPF_K, abi::normalize(verdict), 0, 0}, 0); }
OpId Graph::ret_a() { return intern({BPF_RET | BPF_A, 0, 0, 0}, kReadsA); }

OpId Graph::step(const program::Instruction& insn, OpId next) {
  const Effect effect = effect_of(insn);
  const bool may_end = insn.code == (BPF_ALU | BPF_DIV | BPF_X);
  if ((reads_[next] & effect.sets) == 0 && !may_end) return next;
  const bool ignores_k = BPF_CLASS(insn.code) == BPF_MISC || BPF_OP(insn.code) == BPF_NEG;
  const std::uint32_t k = BPF_CLASS(insn.code) == BPF_ALU && (BPF_SRC(insn.code) == BPF_X || ignores_k) ? 0 : insn.k;
  return intern({insn.code, BPF_CLASS(insn.code) == BPF_MISC ? 0 : k, next, 0},
                (reads_[next] & ~effect.sets) | effect.reads);
}

OpId Graph::jump(std::uint16_t code, std::uint32_t k, OpId yes, OpId no) {
  if (yes == no) return yes;
  const bool by_x = BPF_SRC(code) == BPF_X;
  return intern({code, by_x ? 0 : k, yes, no}, reads_[yes] | reads_[no] | kReadsA | (by_x ? kReadsX : 0));
}

std::vector<OpId> Graph::below(OpId root) const {
  std::vector<bool> seen(root + 1, false);
  std::vector<OpId> todo{root}, found;
  seen[root] = true;
  const auto visit = [&](OpId id) {
    if (!seen[id]) todo.push_back(id);
    seen[id] = true;
  };
  while (!todo.empty()) {
    const OpId id = todo.back();
    todo.pop_back();
    found.push_back(id);
    if (BPF_CLASS(operations_[id].code) == BPF_RET) continue;
    visit(operations_[id].yes);
    if (BPF_CLASS(operations_[id].code) == BPF_JMP) visit(operations_[id].no);
  }
  std::ranges::sort(found);
  return found;
}

abi::Verdict Graph::run(OpId root, const abi::SeccompData& data) const {
  Machine machine;
  for (OpId id = root;;) {
    const Operation& op = operations_[id];
    if (BPF_CLASS(op.code) == BPF_RET) return op.code == (BPF_RET | BPF_K) ? op.k : machine.a;
    if (BPF_CLASS(op.code) == BPF_JMP) {
      id = holds(BPF_OP(op.code), machine.a, BPF_SRC(op.code) == BPF_X ? machine.x : op.k) ? op.yes : op.no;
      continue;
    }
    if (!execute(machine, op, data)) return abi::kKillThread;
    id = op.yes;
  }
}

}  // namespace seccompress::opaque
