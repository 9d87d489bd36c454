// SPDX-License-Identifier: Apache-2.0
// Input: any code, checked or not. Output: one line an instruction. Entry point: disassemble.
//
// Method: one pass in order, which is enough because jumps only go forward. For each instruction it is known
// whether A holds nr or arch on every way to it, and which architecture an earlier JEQ established; numbers
// get names only then. Architectures tested by range or by exclusion are not tracked: those numbers stay
// bare.
#include <fmt/core.h>

#include <optional>

#include "abi/arch.h"
#include "abi/syscalls.h"
#include "program/program.h"

namespace seccompress::program {
namespace {

enum class Holds : std::uint8_t { other, nr, arch };

struct Known {
  Holds a = Holds::other;
  std::optional<std::uint32_t> arch;
};

class Listing {
 public:
  explicit Listing(CodeView code) : code_(code), known_(code.size()) {
    if (!known_.empty()) known_[0] = Known{};
  }

  std::string text() {
    std::string all;
    for (std::size_t pc = 0; pc < code_.size(); ++pc) {
      const Known here = known_[pc].value_or(Known{});
      std::string line = fmt::format("{:4}: {}", pc, instruction(pc, here));
      while (line.back() == ' ') line.pop_back();
      all += line + '\n';
      propagate(pc, here);
    }
    return all;
  }

 private:
  static std::string plain(std::string_view mnemonic, const std::string& operand) {
    return fmt::format("{:<4} {}", mnemonic, operand);
  }
  static std::string unknown(const Instruction& insn) {
    return plain(".raw", fmt::format("code {:#06x} jt {} jf {} k {:#x}", insn.code, insn.jt, insn.jf, insn.k));
  }

  std::string instruction(std::size_t pc, const Known& here) const {
    const Instruction& insn = code_[pc];
    switch (BPF_CLASS(insn.code)) {
      case BPF_JMP: return jump(pc, here);
      case BPF_ALU: return arithmetic(insn);
      default: return movement(insn);
    }
  }

  std::string jump(std::size_t pc, const Known& here) const {
    const Instruction& insn = code_[pc];
    std::string_view mnemonic;
    switch (insn.code & ~BPF_X) {
      case BPF_JMP | BPF_JA:
        if (insn.code != (BPF_JMP | BPF_JA)) return unknown(insn);
        return plain("ja", std::to_string(pc + 1 + insn.k));
      case BPF_JMP | BPF_JEQ: mnemonic = "jeq"; break;
      case BPF_JMP | BPF_JGT: mnemonic = "jgt"; break;
      case BPF_JMP | BPF_JGE: mnemonic = "jge"; break;
      case BPF_JMP | BPF_JSET: mnemonic = "jset"; break;
      default: return unknown(insn);
    }
    const std::string operand = BPF_SRC(insn.code) == BPF_X ? "x" : constant(insn, here);
    return plain(mnemonic, fmt::format("{:<17} jt {}  jf {}", operand, pc + 1 + insn.jt, pc + 1 + insn.jf));
  }

  // A mask is no number of a call: JSET constants stay hexadecimal.
  static std::string constant(const Instruction& insn, const Known& here) {
    if (BPF_OP(insn.code) == BPF_JSET || here.a == Holds::other) return fmt::format("#{:#x}", insn.k);
    if (here.a == Holds::arch) {
      const std::string name = abi::audit_name(insn.k);
      std::string bare = fmt::format("#{:#x}", insn.k);
      return name.starts_with("0x") ? bare : bare + " " + name;
    }
    std::string bare = insn.k < abi::kX32Bit ? fmt::format("#{}", insn.k) : fmt::format("#{:#x}", insn.k);
    if (insn.k == abi::kX32Bit && BPF_OP(insn.code) == BPF_JGE) return bare + " x32";  // the usual guard
    if (!here.arch) return bare;
    const std::string_view name = abi::syscall_name(*here.arch, insn.k);
    return name.empty() ? bare : fmt::format("{} {}", bare, name);
  }

  static std::string arithmetic(const Instruction& insn) {
    if (insn.code == (BPF_ALU | BPF_NEG)) return "neg";
    std::string_view mnemonic;
    switch (insn.code & ~BPF_X) {
      case BPF_ALU | BPF_ADD: mnemonic = "add"; break;
      case BPF_ALU | BPF_SUB: mnemonic = "sub"; break;
      case BPF_ALU | BPF_MUL: mnemonic = "mul"; break;
      case BPF_ALU | BPF_DIV: mnemonic = "div"; break;
      case BPF_ALU | BPF_AND: mnemonic = "and"; break;
      case BPF_ALU | BPF_OR: mnemonic = "or"; break;
      case BPF_ALU | BPF_XOR: mnemonic = "xor"; break;
      case BPF_ALU | BPF_LSH: mnemonic = "lsh"; break;
      case BPF_ALU | BPF_RSH: mnemonic = "rsh"; break;
      default: return unknown(insn);
    }
    return plain(mnemonic, BPF_SRC(insn.code) == BPF_X ? "x" : fmt::format("#{:#x}", insn.k));
  }

  static std::string movement(const Instruction& insn) {
    switch (insn.code) {
      case BPF_LD | BPF_W | BPF_ABS:
        if (insn.k % 4 != 0 || insn.k >= sizeof(abi::SeccompData)) return unknown(insn);
        return plain("ld", "[" + abi::word_name(static_cast<abi::Word>(insn.k / 4)) + "]");
      case BPF_LD | BPF_W | BPF_LEN: return plain("ld", "len");
      case BPF_LDX | BPF_W | BPF_LEN: return plain("ldx", "len");
      case BPF_LD | BPF_IMM: return plain("ld", fmt::format("#{:#x}", insn.k));
      case BPF_LDX | BPF_IMM: return plain("ldx", fmt::format("#{:#x}", insn.k));
      case BPF_LD | BPF_MEM: return plain("ld", fmt::format("M[{}]", insn.k));
      case BPF_LDX | BPF_MEM: return plain("ldx", fmt::format("M[{}]", insn.k));
      case BPF_ST: return plain("st", fmt::format("M[{}]", insn.k));
      case BPF_STX: return plain("stx", fmt::format("M[{}]", insn.k));
      case BPF_MISC | BPF_TAX: return "tax";
      case BPF_MISC | BPF_TXA: return "txa";
      case BPF_RET | BPF_K: return plain("ret", fmt::format("#{:#010x} {}", insn.k, abi::to_string(insn.k)));
      case BPF_RET | BPF_A: return plain("ret", "a");
      default: return unknown(insn);
    }
  }

  void flow(std::size_t target, const Known& known) {
    if (target >= known_.size()) return;
    std::optional<Known>& there = known_[target];
    if (!there) {
      there = known;
      return;
    }
    if (there->a != known.a) there->a = Holds::other;
    if (there->arch != known.arch) there->arch.reset();
  }

  void propagate(std::size_t pc, Known known) {
    const Instruction& insn = code_[pc];
    if (BPF_CLASS(insn.code) == BPF_RET) return;
    if (insn.code == (BPF_JMP | BPF_JA)) return flow(pc + 1 + insn.k, known);
    if (BPF_CLASS(insn.code) == BPF_JMP) {
      flow(pc + 1 + insn.jf, known);
      if (insn.code == (BPF_JMP | BPF_JEQ | BPF_K) && known.a == Holds::arch) known.arch = insn.k;
      return flow(pc + 1 + insn.jt, known);
    }
    const bool loads_word = insn.code == (BPF_LD | BPF_W | BPF_ABS);
    if (loads_word && insn.k == 4 * abi::kNr)
      known.a = Holds::nr;
    else if (loads_word && insn.k == 4 * abi::kArch)
      known.a = Holds::arch;
    else if (BPF_CLASS(insn.code) == BPF_LD || BPF_CLASS(insn.code) == BPF_ALU || insn.code == (BPF_MISC | BPF_TXA))
      known.a = Holds::other;
    flow(pc + 1, known);
  }

  CodeView code_;
  std::vector<std::optional<Known>> known_;
};

}  // namespace

std::string disassemble(CodeView code) { return Listing(code).text(); }

}  // namespace seccompress::program
