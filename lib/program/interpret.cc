// SPDX-License-Identifier: Apache-2.0
// Input: code that check() accepts (or longer code of that shape) and one seccomp_data. Output: its verdict
// and what that cost. Entry points: run, interpret, run_stack, interpret_stack.
//
// Kernel semantics: A = X = 0 at entry (bpf_convert_filter's prologue), LEN is sizeof(seccomp_data)
// (seccomp_check_filter), DIV by X = 0 ends the program with 0, a shift by X takes X modulo 32 (32-bit shifts
// of kernel/bpf/core.c and of the JITs), arithmetic wraps. Code that runs off its end, which check() refuses,
// answers KILL_PROCESS: the interpreter is total.
#include <array>

#include "program/cost.h"

namespace seccompress::program {
namespace {

struct NoMeter {
  void plain(std::uint32_t /*converted*/) {}
  void compare(const Instruction& /*insn*/, bool /*taken*/) {}
  void load(std::uint32_t /*offset*/) {}
  void end(std::size_t /*pc*/) {}
};

struct Meter {
  Run* run;
  void plain(std::uint32_t converted) {
    ++run->executed;
    run->executed_converted += converted;
  }
  void compare(const Instruction& insn, bool taken) { plain(executed_compare(insn, taken)); }
  void load(std::uint32_t offset) {
    ++run->loads;
    run->words = static_cast<std::uint16_t>(run->words | 1U << offset / 4 % 16);
  }
  void end(std::size_t pc) { run->last = static_cast<std::uint32_t>(pc); }
};

bool holds(std::uint16_t op, std::uint32_t a, std::uint32_t operand) {
  switch (op) {
    case BPF_JEQ: return a == operand;
    case BPF_JGT: return a > operand;
    case BPF_JGE: return a >= operand;
    default: return (a & operand) != 0;  // BPF_JSET
  }
}

// Everything but DIV.
std::uint32_t calculate(std::uint16_t op, std::uint32_t a, std::uint32_t operand) {
  switch (op) {
    case BPF_ADD: return a + operand;
    case BPF_SUB: return a - operand;
    case BPF_MUL: return a * operand;
    case BPF_AND: return a & operand;
    case BPF_OR: return a | operand;
    case BPF_XOR: return a ^ operand;
    case BPF_LSH: return a << (operand & 31);
    case BPF_RSH: return a >> (operand & 31);
    default: return 0U - a;  // BPF_NEG
  }
}

struct Machine {
  std::uint32_t a = 0, x = 0;
  std::array<std::uint32_t, BPF_MEMWORDS> scratch{};
};

// LD, LDX, ST, STX, MISC.
void move(Machine& machine, const Instruction& insn, const abi::SeccompData& data) {
  const std::uint32_t cell = insn.k % BPF_MEMWORDS;
  switch (insn.code) {
    case BPF_LD | BPF_W | BPF_ABS: machine.a = abi::read_word(data, static_cast<abi::Word>(insn.k / 4 % 16)); break;
    case BPF_LD | BPF_W | BPF_LEN: machine.a = sizeof(abi::SeccompData); break;
    case BPF_LDX | BPF_W | BPF_LEN: machine.x = sizeof(abi::SeccompData); break;
    case BPF_LD | BPF_IMM: machine.a = insn.k; break;
    case BPF_LDX | BPF_IMM: machine.x = insn.k; break;
    case BPF_LD | BPF_MEM: machine.a = machine.scratch[cell]; break;
    case BPF_LDX | BPF_MEM: machine.x = machine.scratch[cell]; break;
    case BPF_ST: machine.scratch[cell] = machine.a; break;
    case BPF_STX: machine.scratch[cell] = machine.x; break;
    case BPF_MISC | BPF_TAX: machine.x = machine.a; break;
    case BPF_MISC | BPF_TXA: machine.a = machine.x; break;
    default: break;
  }
}

template <class M>
abi::Verdict execute(CodeView code, const abi::SeccompData& data, M meter) {
  Machine machine;
  for (std::size_t pc = 0; pc < code.size(); ++pc) {
    const Instruction& insn = code[pc];
    const std::uint32_t operand = BPF_SRC(insn.code) == BPF_X ? machine.x : insn.k;
    switch (BPF_CLASS(insn.code)) {
      case BPF_RET: {
        const bool constant = BPF_RVAL(insn.code) == BPF_K;
        meter.plain(constant ? 2 : 1);
        meter.end(pc);
        return constant ? insn.k : machine.a;
      }
      case BPF_JMP: {
        if (BPF_OP(insn.code) == BPF_JA) {
          meter.plain(1);
          pc += insn.k;
          break;
        }
        const bool taken = holds(BPF_OP(insn.code), machine.a, operand);
        meter.compare(insn, taken);
        pc += taken ? insn.jt : insn.jf;
        break;
      }
      case BPF_ALU:
        if (BPF_OP(insn.code) == BPF_DIV) {
          const bool by_register = BPF_SRC(insn.code) == BPF_X;
          meter.plain(!by_register ? 1 : operand == 0 ? 4 : 3);
          if (operand == 0) {
            meter.end(pc);
            return 0;
          }
          machine.a /= operand;
          break;
        }
        meter.plain(1);
        machine.a = calculate(BPF_OP(insn.code), machine.a, operand);
        break;
      default:
        meter.plain(1);
        if (insn.code == (BPF_LD | BPF_W | BPF_ABS)) meter.load(insn.k);
        move(machine, insn, data);
    }
  }
  return abi::kKillProcess;
}

}  // namespace

Run run(CodeView code, const abi::SeccompData& data) {
  Run result;
  result.verdict = execute(code, data, Meter{&result});
  return result;
}

abi::Verdict interpret(CodeView code, const abi::SeccompData& data) { return execute(code, data, NoMeter{}); }

abi::Verdict interpret_stack(std::span<const Code> oldest_first, const abi::SeccompData& data) {
  abi::Verdict verdict = abi::kAllow;
  for (auto code = oldest_first.rbegin(); code != oldest_first.rend(); ++code)
    verdict = abi::stack(verdict, interpret(*code, data));
  return verdict;
}

Run run_stack(std::span<const Code> oldest_first, const abi::SeccompData& data) {
  Run sum;
  sum.verdict = abi::kAllow;
  for (auto code = oldest_first.rbegin(); code != oldest_first.rend(); ++code) {
    const Run one = run(*code, data);
    sum.verdict = abi::stack(sum.verdict, one.verdict);
    sum.executed += one.executed;
    sum.executed_converted += one.executed_converted;
    sum.loads += one.loads;
    sum.words = static_cast<std::uint16_t>(sum.words | one.words);
  }
  return sum;
}

}  // namespace seccompress::program
