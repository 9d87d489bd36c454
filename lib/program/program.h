// SPDX-License-Identifier: Apache-2.0
// Classic-BPF code as bytes and as instructions. NOUN: nothing here knows how a program came to be.
//
// Facts: include/uapi/linux/filter.h (sock_filter: u16 code, u8 jt, u8 jf, u32 k, host byte order, 8 bytes),
// kernel/seccomp.c (seccomp_check_filter), net/core/filter.c (bpf_check_classic, bpf_convert_filter).
#pragma once

#include <linux/filter.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "abi/verdict.h"
#include "abi/word.h"
#include "support/result.h"

namespace seccompress::program {

using Instruction = ::sock_filter;
using Code = std::vector<Instruction>;  // raw: nothing is promised about it until check() said yes
using CodeView = std::span<const Instruction>;

inline constexpr std::size_t kMaxInstructions = 4096;    // BPF_MAXINSNS
inline constexpr std::uint32_t kMaxChainLength = 32768;  // kernel/seccomp.c MAX_INSNS_PER_PATH, converted
inline constexpr std::uint32_t kChainPenalty = 4;        // per older filter

// Bytes of a .bpf file. Errors (Errc::malformed): empty, not a multiple of 8. No length limit of its own.
Result<Code> from_bytes(std::string_view bytes, const std::string& name);
std::string to_bytes(CodeView code);
bool same_code(CodeView a, CodeView b);  // byte for byte

// Would the kernel accept it (bpf_check_classic, then seccomp_check_filter)? The error names the
// instruction: "instruction 12: jump target 300 is past the end".
Result<void> check(CodeView code);

// Length after bpf_convert_filter, which is what the kernel adds up against kMaxChainLength.
std::uint32_t converted_length(CodeView code);

// What one run did; see cost() for the unit.
struct Run {
  abi::Verdict verdict = 0;
  std::uint32_t executed = 0;            // classic instructions
  std::uint32_t executed_converted = 0;  // eBPF instructions without the prologue (design section 6)
  std::uint32_t loads = 0;
  std::uint16_t words = 0;  // bit w: abi::Word w was loaded
  std::uint32_t last = 0;   // index of the instruction that ended the run
};

// Runs checked code. Kernel semantics: A = X = 0 at entry, LEN is 64, division by X = 0 returns 0.
Run run(CodeView code, const abi::SeccompData& data);
abi::Verdict interpret(CodeView code, const abi::SeccompData& data);

// The kernel's evaluation of a stack given oldest first. An empty stack allows.
abi::Verdict interpret_stack(std::span<const Code> oldest_first, const abi::SeccompData& data);
// The same with every filter's costs added up (each filter runs; they are not cut short).
Run run_stack(std::span<const Code> oldest_first, const abi::SeccompData& data);

// seccomp_is_const_allow(): does the kernel's emulator prove that this code ALLOWs (arch, nr) whatever the
// other words hold? Emulates exactly LD nr, LD arch, RET K, JA, JEQ/JGE/JGT/JSET K, AND K.
bool is_constant_allow(CodeView code, std::uint32_t arch, std::uint32_t nr);

// One instruction a line: "  12: jeq  #59 execve        jt 15  jf 13". names: resolve numbers after
// `ld [nr]` with the architecture tested before; words print as "nr", "arch", "a0.lo".
std::string disassemble(CodeView code);

}  // namespace seccompress::program
