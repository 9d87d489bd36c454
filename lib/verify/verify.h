// SPDX-License-Identifier: Apache-2.0
// VERB: one program x the stack it replaces -> proof. Takes programs only and shares neither code nor
// representation with raise, merge, emit or the diagram (lib/README.md says why): its own executor over
// bytes, arch and nr as interval sets, argument bits in an ROBDD of its own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "program/program.h"
#include "program/verified_program.h"

namespace seccompress::verify {

struct Limits {
  std::uint32_t bdd_nodes = 1U << 20;  // per cell
  std::uint32_t cells = 1U << 24;      // (arch, nr) cells over all programs; held by one class of arch at a time
  std::uint64_t steps = 50'000'000;    // some 20 ns each
};

struct Options {
  Limits limits;
  std::uint32_t syscalls = 512;  // numbers below this are looked at for cache coverage (NR_syscalls of any kernel)
};

// One concrete input on which the two disagree. Verdicts are as returned, not normalized.
struct Difference {
  abi::SeccompData witness;
  abi::Verdict stack;
  abi::Verdict flat;
};
// The kernel would refuse the flat program; or it is longer, converted, than a chain may be.
struct Unacceptable {
  std::string reason;
};
// Equal, but the constant-action cache answers (arch, nr) for the stack and not for the flat program.
struct CacheLoss {
  std::uint32_t arch;
  std::uint32_t nr;
};
// A limit was reached or an instruction is beyond the executor (MUL, DIV by X ...): not proved. Callers
// treat it as a failure.
struct Undecided {
  std::string reason;
};

// Several programs, oldest first, that together equal the stack.
struct VerifiedStack {
  std::vector<program::VerifiedProgram> programs;
};

using Outcome = std::variant<program::VerifiedProgram, VerifiedStack, Difference, CacheLoss, Unacceptable, Undecided>;

// stack: oldest first; elements may be longer than the kernel's limit (naive reference programs of policy
// layers are), flat may not. An empty stack stands for "allow everything".
// `equal` is design section 1's: ALLOW, LOG, KILL and USER_NOTIF data ignored, ERRNO data capped at 4095.
Outcome prove(program::CodeView flat, std::span<const program::Code> stack, const Options& options = {});

// The same for a stack of programs in the place of one, when one cannot hold it. Proved: VerifiedStack.
Outcome prove_stack(std::span<const program::Code> flat, std::span<const program::Code> stack,
                    const Options& options = {});

// Is there an input for which `holds(stack's verdict, flat's verdict)`? Verdicts normalized. Neither has to be
// acceptable to the kernel.
using VerdictRelation = bool (*)(abi::Verdict stack, abi::Verdict flat);
struct NoSuchInput {};
using Finding = std::variant<NoSuchInput, Difference, Undecided>;
Finding find(std::span<const program::Code> flat, std::span<const program::Code> stack, VerdictRelation holds,
             const Options& options = {});

// The outcome in one line for a person ("differs for x86_64 openat(...): stack ERRNO(1), flat ALLOW").
std::string to_string(const Outcome& outcome);

}  // namespace seccompress::verify
