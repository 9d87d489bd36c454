// SPDX-License-Identifier: Apache-2.0
// Input: the flat program, or several, and the programs they stand for, oldest first. Output: an Outcome. Entry
// points: prove, prove_stack, find, to_string.
//
// Method. (1) The constants that programs compare nr and arch with cut the (arch, nr) plane into cells. (2) Each
// program walks forward once per class of architectures on sets of cells (walk.h); a cell ends in a constant
// verdict or a residue. (3) In each cell the stack is a sequence of these (sequence.h); constants compare at
// once, each distinct pair of sequences with residues is proved once by symbolic execution of the argument
// bits (cell_prover.h). (4) The same walk says where the kernel's cache answers; a cell it cannot tell for is
// asked number by number with program/cache.cc. A difference is returned only after the interpreter confirmed it.
//
// Complexity: n instructions, c cells: O(n * c / 64) for the walk, O(programs * c) for the sequences.
//
// Weaknesses, each of which ends in Undecided and never in a wrong answer: products
// and quotients of arguments are only known to be functions of their operands; sums over several arguments can pass a
// limit. Low-bit tests of nr inside a cell make its bits variables: slower, exact. Trusted: program::check, the
// interpreter for witnesses, abi::stack and abi::normalize.
#include "verify/verify.h"

#include <fmt/core.h>

#include <algorithm>

#include "abi/arch.h"
#include "abi/syscalls.h"
#include "support/check.h"
#include "verify/cell_prover.h"
#include "verify/partition.h"
#include "verify/sequence.h"
#include "verify/walk.h"

namespace seccompress::verify {

class ProgramMaker {
 public:
  static std::vector<program::VerifiedProgram> make(std::span<const program::Code> stack) {
    std::vector<program::VerifiedProgram> programs;
    for (const program::Code& code : stack) programs.push_back(program::VerifiedProgram(program::Code(code)));
    return programs;
  }
};

namespace {

std::optional<std::uint32_t> compat_arch() {
  // arch/*/include/asm/seccomp.h SECCOMP_ARCH_COMPAT
  if (abi::native_arch() == abi::Arch::x86_64) return abi::facts(abi::Arch::x86).audit;
  if (abi::native_arch() == abi::Arch::aarch64) return abi::facts(abi::Arch::arm).audit;
  return std::nullopt;
}

std::string place(std::uint32_t arch, std::uint32_t nr) {
  return fmt::format("{} {}", abi::audit_name(arch), abi::syscall_label(arch, nr));
}

class Proof {
 public:
  using Failure = std::optional<Outcome>;  // nothing: go on
  Proof(std::span<const program::Code> flat, std::span<const program::Code> stack, VerdictRelation holds,
        const Options& options);
  Failure run();  // nothing: there is no input for which it holds

 private:
  Failure prove_class(const ArchClass& arch);
  // What one side answers in each cell, and where the kernel's cache does (sure) or may (maybe).
  struct Side {
    std::vector<Sequences::Number> answers;  // by cell
    std::vector<std::uint64_t> sure, maybe;
  };
  void answer(const ArchClass& arch, std::uint32_t first, std::uint32_t count, Side& side);
  void answer_one(const ArchClass& arch, std::uint32_t subject, Side& side);
  void note_cache(const Outcomes& outcomes, std::vector<std::uint64_t>& sure, std::vector<std::uint64_t>& maybe);
  bool is_like_the_cell_before(std::uint32_t cell) const;
  Failure compare_cell(const ArchClass& arch, std::uint32_t cell);
  Failure prove_cell(const ArchClass& arch, std::uint32_t cell);
  Failure judge(const CellProof& proof);
  Outcome difference(const abi::SeccompData& witness) const;
  bool holds_at(const abi::SeccompData& data) const;
  std::optional<abi::SeccompData> search(abi::SeccompData near) const;
  struct Pair {
    Sequences::Number stack, flat;
    bool operator==(const Pair&) const = default;
  };
  static std::uint64_t hash_of(const Pair& pair);
  bool proved_before(const Pair& pair) const;
  void remember(const Pair& pair);
  void look_for_cache_loss(std::uint32_t arch);
  Undecided out_of_steps() const { return {"the step limit was reached"}; }

  std::span<const program::Code> flat_, stack_;
  VerdictRelation holds_;
  const Options& options_;
  Budget budget_;
  std::vector<Subject> subjects_;  // the stack, then flat
  std::vector<ArchClass> classes_;
  std::optional<NrCells> cells_;
  std::optional<Walker> walker_;
  Residues residues_;
  Sequences sequences_;
  std::optional<CellProver> prover_;

  Side stack_side_, flat_side_;
  std::optional<CacheLoss> cache_loss_;

  std::vector<Pair> proved_;  // cells with residues
  HashIndex proved_index_;
};

Proof::Proof(std::span<const program::Code> flat, std::span<const program::Code> stack, VerdictRelation holds,
             const Options& options)
    : flat_(flat), stack_(stack), holds_(holds), options_(options), budget_(options.limits.steps) {
  Cuts nr, arch;
  subjects_.reserve(stack.size() + flat.size());
  for (const program::Code& code : stack) subjects_.emplace_back(code);
  for (const program::Code& code : flat) subjects_.emplace_back(code);
  for (Subject& subject : subjects_) subject.collect(nr, arch);
  classes_ = arch_classes(std::move(arch));
  cells_.emplace(nr);
  walker_.emplace(*cells_, budget_);
}

Proof::Failure Proof::run() {
  if (cells_->count() * std::uint64_t{classes_.size()} > options_.limits.cells)
    return Undecided{fmt::format("{} classes of architectures times {} ranges of numbers are more cells than {}",
                                 classes_.size(), cells_->count(), options_.limits.cells)};
  for (const ArchClass& arch : classes_)
    if (Failure failure = prove_class(arch)) return std::move(*failure);
  if (cache_loss_) return *cache_loss_;
  return std::nullopt;
}

Proof::Failure Proof::prove_class(const ArchClass& arch) {
  const auto older = static_cast<std::uint32_t>(stack_.size());
  answer(arch, 0, older, stack_side_);
  answer(arch, older, static_cast<std::uint32_t>(flat_.size()), flat_side_);
  if (budget_.exhausted()) return out_of_steps();
  for (std::uint32_t cell = 0; cell < cells_->count(); ++cell)
    if (!is_like_the_cell_before(cell))
      if (Failure failure = compare_cell(arch, cell)) return failure;
  for (const auto known : {std::optional(abi::facts(abi::native_arch()).audit), compat_arch()})
    if (known && arch.contains(*known) && !cache_loss_) look_for_cache_loss(*known);
  return std::nullopt;
}

void Proof::answer(const ArchClass& arch, std::uint32_t first, std::uint32_t count, Side& side) {
  side.answers.assign(cells_->count(), Sequences::kEmpty);
  side.sure.assign(walker_->stride(), ~0ULL);
  side.maybe.assign(walker_->stride(), ~0ULL);
  for (std::uint32_t subject = first + count; subject-- > first;) answer_one(arch, subject, side);
}

void Proof::answer_one(const ArchClass& arch, std::uint32_t subject, Side& side) {
  const Outcomes& outcomes = walker_->walk(subjects_[subject], arch);
  const auto append = [&](std::uint32_t set, Item item) {
    Sequences::Number before = ~0U, after = 0;
    walker_->for_each(set, [&](std::uint32_t cell) {
      if (side.answers[cell] != before) {
        before = side.answers[cell];
        after = sequences_.append(before, item);
      }
      side.answers[cell] = after;
    });
  };
  for (const Outcomes::Constant& part : outcomes.constants)
    if (abi::action_word(part.verdict) != abi::kAllow) append(part.set, {true, abi::normalize(part.verdict)});
  for (const Outcomes::Residue& part : outcomes.residues)
    append(part.set, residues_.file({subject, part.pc, part.held}));

  std::vector<std::uint64_t> sure(walker_->stride()), maybe(walker_->stride());
  note_cache(outcomes, sure, maybe);
  for (std::uint32_t w = 0; w < walker_->stride(); ++w) {
    side.sure[w] &= sure[w];
    side.maybe[w] &= sure[w] | maybe[w];
  }
}

// sure: the emulator allows; maybe: it reaches a test of nr that differs inside the cell.
void Proof::note_cache(const Outcomes& outcomes, std::vector<std::uint64_t>& sure, std::vector<std::uint64_t>& maybe) {
  const auto add = [&](std::vector<std::uint64_t>& to, std::uint32_t set) {
    for (std::uint32_t w = 0; w < walker_->stride(); ++w) to[w] |= walker_->row(set)[w];
  };
  for (const Outcomes::Constant& part : outcomes.constants)
    if (part.emulated && part.verdict == abi::kAllow) add(sure, part.set);
  for (const Outcomes::Residue& part : outcomes.residues)
    if (part.held.emulated) add(maybe, part.set);
}

// Constants alone: what a residue does may depend on the cell.
bool Proof::is_like_the_cell_before(std::uint32_t cell) const {
  if (cell == 0) return false;
  const Sequences::Number stack = stack_side_.answers[cell], flat = flat_side_.answers[cell];
  return stack == stack_side_.answers[cell - 1] && flat == flat_side_.answers[cell - 1] &&
         sequences_.is_constant(stack) && sequences_.is_constant(flat);
}

Proof::Failure Proof::compare_cell(const ArchClass& arch, std::uint32_t cell) {
  const Sequences::Number stack = stack_side_.answers[cell], flat = flat_side_.answers[cell];
  if (!sequences_.is_constant(flat) || !sequences_.is_constant(stack)) return prove_cell(arch, cell);
  if (!holds_(sequences_.verdict(stack), sequences_.verdict(flat))) return std::nullopt;
  abi::SeccompData witness{};
  witness.arch = arch.representative();
  abi::write_word(witness, abi::kNr, cells_->first(cell));
  return difference(witness);
}

std::uint64_t Proof::hash_of(const Pair& pair) { return mix(std::uint64_t{pair.stack} << 32 | pair.flat); }

bool Proof::proved_before(const Pair& pair) const {
  return proved_index_.find(hash_of(pair), [&](std::uint32_t at) { return proved_[at] == pair; });
}

void Proof::remember(const Pair& pair) {
  proved_index_.find_or_file(
      hash_of(pair), static_cast<std::uint32_t>(proved_.size()), [&](std::uint32_t at) { return proved_[at] == pair; },
      [&](std::uint32_t at) { return hash_of(proved_[at]); });
  proved_.push_back(pair);
}

Proof::Failure Proof::prove_cell(const ArchClass& arch, std::uint32_t cell) {
  const Pair pair{stack_side_.answers[cell], flat_side_.answers[cell]};
  if (proved_before(pair)) return std::nullopt;
  if (!prover_)
    prover_.emplace(subjects_, residues_, options_.limits.bdd_nodes, budget_, holds_,
                    [this](const abi::SeccompData& data) { return holds_at(data); });
  const CellProof proof = prover_->prove({&arch, cells_->interval(cell)}, sequences_.newest_first(pair.stack),
                                         sequences_.newest_first(pair.flat));
  if (proof.kind == CellProof::Kind::never) {
    if (!proof.for_this_cell_only) remember(pair);
    return std::nullopt;
  }
  return judge(proof);
}

// It holds as far as the prover can tell.
Proof::Failure Proof::judge(const CellProof& proof) {
  if (proof.kind == CellProof::Kind::somewhere) return difference(proof.witness);
  if (const auto found = search(proof.witness)) return difference(*found);
  return Undecided{place(proof.witness.arch, static_cast<std::uint32_t>(proof.witness.nr)) + ": " + proof.reason};
}

bool Proof::holds_at(const abi::SeccompData& data) const {
  return holds_(abi::normalize(program::interpret_stack(stack_, data)),
                abi::normalize(program::interpret_stack(flat_, data)));
}

Outcome Proof::difference(const abi::SeccompData& witness) const {
  CHECK(holds_at(witness));
  const abi::Verdict flat =
      flat_.size() == 1 ? program::interpret(flat_[0], witness) : program::interpret_stack(flat_, witness);
  return Difference{witness, program::interpret_stack(stack_, witness), flat};
}

// Some arguments near an input that may be no witness (fresh words, a limit).
std::optional<abi::SeccompData> Proof::search(abi::SeccompData near) const {
  std::uint64_t random = 1;
  for (int round = 0; round < 512; ++round) {
    abi::SeccompData data = near;
    for (auto& argument : data.args) {
      random += 0x9e3779b97f4a7c15U;
      const std::uint64_t value = mix(random);
      if (value % 3 == 0) argument = value >> 32 & 63;
      if (value % 3 == 1) argument = value >> (value >> 8 & 31);
    }
    if (holds_at(data)) return data;
  }
  return std::nullopt;
}

void Proof::look_for_cache_loss(std::uint32_t arch) {
  for (std::uint32_t cell = 0; cell < cells_->count() && cells_->first(cell) < options_.syscalls; ++cell) {
    const std::uint64_t bit = 1ULL << cell % 64;
    if ((stack_side_.maybe[cell / 64] & ~flat_side_.sure[cell / 64] & bit) == 0) continue;
    const std::uint32_t last = std::min(cells_->last(cell), options_.syscalls - 1);
    for (std::uint32_t nr = cells_->first(cell); nr <= last; ++nr) {
      const auto answers = [&](const program::Code& code) { return program::is_constant_allow(code, arch, nr); };
      if (!std::all_of(stack_.begin(), stack_.end(), answers) || std::all_of(flat_.begin(), flat_.end(), answers))
        continue;
      cache_loss_ = CacheLoss{arch, nr};
      return;
    }
  }
}

constexpr std::size_t kMaxStack = std::size_t{1} << 22;  // instructions in all

std::optional<Undecided> refuse_stack(std::span<const program::Code> stack) {
  std::size_t total = 0;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    if (const auto fault = Subject::fault(stack[i])) return Undecided{fmt::format("program {}: {}", i, *fault)};
    total += stack[i].size();
  }
  if (total > kMaxStack) return Undecided{fmt::format("the stack has {} instructions", total)};
  return std::nullopt;
}

bool differ(abi::Verdict stack, abi::Verdict flat) { return stack != flat; }

std::string describe(const Difference& difference) {
  std::string arguments;
  for (const std::uint64_t argument : difference.witness.args)
    arguments += fmt::format("{}{:#x}", arguments.empty() ? "" : ", ", argument);
  const auto nr = static_cast<std::uint32_t>(difference.witness.nr);
  const std::string ip = difference.witness.instruction_pointer == 0
                             ? std::string()
                             : fmt::format(" at {:#x}", std::uint64_t{difference.witness.instruction_pointer});
  return fmt::format("differs for {}({}){}: stack {}, flat {}", place(difference.witness.arch, nr), arguments, ip,
                     abi::to_string(difference.stack), abi::to_string(difference.flat));
}

}  // namespace

Outcome prove(program::CodeView flat, std::span<const program::Code> stack, const Options& options) {
  const program::Code code(flat.begin(), flat.end());
  Outcome outcome = prove_stack({&code, 1}, stack, options);
  if (auto* proved = std::get_if<VerifiedStack>(&outcome)) return std::move(proved->programs.front());
  return outcome;
}

Outcome prove_stack(std::span<const program::Code> flat, std::span<const program::Code> stack, const Options& options) {
  std::uint32_t length = 0;
  for (const program::Code& code : flat) {
    if (const auto accepted = program::check(code); !accepted) return Unacceptable{accepted.error().what};
    length += program::converted_length(code) + (length > 0 ? program::kChainPenalty : 0);
    if (length > program::kMaxChainLength)
      return Unacceptable{fmt::format("converts to {} instructions, more than {}", length, program::kMaxChainLength)};
  }
  if (auto refused = refuse_stack(stack)) return *refused;
  if (std::equal(flat.begin(), flat.end(), stack.begin(), stack.end(), program::same_code))
    return VerifiedStack{ProgramMaker::make(flat)};
  if (auto failure = Proof(flat, stack, differ, options).run()) return std::move(*failure);
  return VerifiedStack{ProgramMaker::make(flat)};
}

Finding find(std::span<const program::Code> flat, std::span<const program::Code> stack, VerdictRelation holds,
             const Options& options) {
  if (auto refused = refuse_stack(flat)) return *refused;
  if (auto refused = refuse_stack(stack)) return *refused;
  Options no_cache = options;
  no_cache.syscalls = 0;
  const Proof::Failure failure = Proof(flat, stack, holds, no_cache).run();
  if (!failure) return NoSuchInput{};
  if (const auto* found = std::get_if<Difference>(&*failure)) return *found;
  return std::get<Undecided>(*failure);
}

std::string to_string(const Outcome& outcome) {
  if (std::holds_alternative<program::VerifiedProgram>(outcome) || std::holds_alternative<VerifiedStack>(outcome))
    return "equal";
  if (const auto* difference = std::get_if<Difference>(&outcome)) return describe(*difference);
  if (const auto* loss = std::get_if<CacheLoss>(&outcome))
    return "equal, but the kernel's cache would no longer answer " + place(loss->arch, loss->nr);
  if (const auto* unacceptable = std::get_if<Unacceptable>(&outcome))
    return "the kernel would refuse it: " + unacceptable->reason;
  return "not decided: " + std::get<Undecided>(outcome).reason;
}

}  // namespace seccompress::verify
