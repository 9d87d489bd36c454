// SPDX-License-Identifier: Apache-2.0
// Input: code and ranges of arch and nr. Output: a graph of what remains. Entry: specialise.
// Method: facts forwards (facts.h), then operations backwards, so that the graph drops what nothing reads, and tests
// that no longer matter.
#include "opaque/specialise.h"

namespace seccompress::opaque {
namespace {

using program::Instruction;

class Specialiser {
 public:
  Specialiser(Graph& graph, program::CodeView code, const Cell& cell)
      : graph_(graph), code_(code), facts_(code, cell), built_(code.size()) {}

  OpId run() {
    for (auto pc = static_cast<std::uint32_t>(code_.size()); pc-- > 0;)
      if (facts_.reached(pc)) built_[pc] = build(pc);
    return from_nothing(built_[0]);
  }

 private:
  OpId build(std::uint32_t pc) {
    const Instruction& insn = code_[pc];
    switch (BPF_CLASS(insn.code)) {
      case BPF_RET:
        if (insn.code == (BPF_RET | BPF_K)) return graph_.ret(insn.k);
        return facts_.a(pc).is_constant() ? graph_.ret(facts_.a(pc).data) : graph_.ret_a();
      case BPF_JMP: return jump(pc);
      case BPF_ST:
      case BPF_STX: return graph_.step(insn, built_[pc + 1]);
      default: return compute(pc);
    }
  }

  OpId jump(std::uint32_t pc) {
    Instruction insn = code_[pc];
    if (BPF_OP(insn.code) == BPF_JA) return built_[pc + 1 + insn.k];
    const std::uint32_t yes = pc + 1U + insn.jt, no = pc + 1U + insn.jf;
    if (const auto known = facts_.outcome(pc)) return built_[*known ? yes : no];
    if (BPF_SRC(insn.code) == BPF_X && facts_.x(pc).is_constant()) {
      insn.code = static_cast<std::uint16_t>(BPF_JMP | BPF_OP(insn.code) | BPF_K);
      insn.k = facts_.x(pc).data;
    }
    return graph_.jump(insn.code, insn.k, built_[yes], built_[no]);
  }

  // LD, LDX, ALU, MISC.
  OpId compute(std::uint32_t pc) {
    Instruction insn = code_[pc];
    if (facts_.divides_by_zero(pc)) return graph_.ret(abi::kKillThread);
    const OpId next = built_[pc + 1];
    if (const Known result = facts_.result(pc); result.is_constant()) {
      const bool into_x = BPF_CLASS(insn.code) == BPF_LDX || insn.code == (BPF_MISC | BPF_TAX);
      return graph_.step({static_cast<std::uint16_t>((into_x ? BPF_LDX : BPF_LD) | BPF_IMM), 0, 0, result.data}, next);
    }
    const bool by_x = BPF_CLASS(insn.code) == BPF_ALU && BPF_SRC(insn.code) == BPF_X && BPF_OP(insn.code) != BPF_NEG;
    if (by_x && facts_.x(pc).is_constant()) {
      insn.code = static_cast<std::uint16_t>(BPF_ALU | BPF_OP(insn.code) | BPF_K);
      const bool shifts = BPF_OP(insn.code) == BPF_LSH || BPF_OP(insn.code) == BPF_RSH;
      insn.k = facts_.x(pc).data & (shifts ? 31U : 0xffffffffU);
    }
    return graph_.step(insn, next);
  }

  // A, X and M are 0 at entry, here they hold anything.
  OpId from_nothing(OpId root) {
    for (std::uint32_t cell = 0; cell < BPF_MEMWORDS; ++cell)
      if ((graph_.reads(root) & reads_cell(cell)) != 0) root = set_cell(cell, root);
    if ((graph_.reads(root) & kReadsA) != 0) root = graph_.step({BPF_LD | BPF_IMM, 0, 0, 0}, root);
    if ((graph_.reads(root) & kReadsX) != 0) root = graph_.step({BPF_LDX | BPF_IMM, 0, 0, 0}, root);
    return root;
  }
  // The kernel lets nothing read a cell that is not set; code put together from parts of a program does not either.
  OpId set_cell(std::uint32_t cell, OpId next) {
    const OpId again = graph_.step({BPF_LD | BPF_IMM, 0, 0, 0}, next);
    return graph_.step({BPF_LD | BPF_IMM, 0, 0, 0}, graph_.step({BPF_ST, 0, 0, cell}, again));
  }

  Graph& graph_;
  program::CodeView code_;
  Facts facts_;
  std::vector<OpId> built_;
};

}  // namespace

OpId specialise(Graph& graph, program::CodeView code, const Cell& cell) { return Specialiser(graph, code, cell).run(); }

}  // namespace seccompress::opaque
