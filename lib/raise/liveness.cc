// SPDX-License-Identifier: Apache-2.0
#include "raise/liveness.h"

namespace seccompress::raise {

std::vector<std::uint32_t> liveness(program::CodeView code) {
  std::vector<std::uint32_t> live(code.size());
  for (std::size_t pc = code.size(); pc-- > 0;) {
    const program::Instruction& insn = code[pc];
    if (BPF_CLASS(insn.code) == BPF_RET) {
      live[pc] = insn.code == (BPF_RET | BPF_A) ? opaque::kReadsA : 0;
    } else if (insn.code == (BPF_JMP | BPF_JA)) {
      live[pc] = live[pc + 1 + insn.k];
    } else if (BPF_CLASS(insn.code) == BPF_JMP) {
      const std::uint32_t x = BPF_SRC(insn.code) == BPF_X ? opaque::kReadsX : 0;
      live[pc] = live[pc + 1U + insn.jt] | live[pc + 1U + insn.jf] | opaque::kReadsA | x;
    } else {
      const opaque::Effect effect = opaque::effect_of(insn);
      live[pc] = (live[pc + 1] & ~effect.sets) | effect.reads;
    }
  }
  return live;
}

}  // namespace seccompress::raise
