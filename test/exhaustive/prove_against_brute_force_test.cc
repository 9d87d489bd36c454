// SPDX-License-Identifier: Apache-2.0
// prove() against all inputs, over a tiny alphabet: what it calls equal has no difference; a difference it
// shows is one; it leaves undecided only what it may.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "pipeline.h"
#include "support/paths.h"
#include "support/tiny_code.h"
#include "verify/verify.h"

namespace seccompress::test {
namespace {

std::optional<abi::SeccompData> difference(const Code& flat, const std::vector<Code>& stack,
                                           std::span<const abi::Word> words) {
  std::optional<abi::SeccompData> found;
  for_each_input(words, [&](const abi::SeccompData& data) {
    if (abi::normalize(program::interpret(flat, data)) == abi::normalize(program::interpret_stack(stack, data)))
      return true;
    found = data;
    return false;
  });
  return found;
}

std::string listing(const Code& flat, const std::vector<Code>& stack) {
  std::string text = "flat:\n" + program::disassemble(flat);
  for (const Code& code : stack) text += "program:\n" + program::disassemble(code);
  return text;
}

// A whole word as the verdict has more values than prove() looks at.
bool returns_a(const Code& code) {
  return std::any_of(code.begin(), code.end(), [](const Instruction& i) { return i.code == (BPF_RET | BPF_A); });
}

struct Tally {
  int equal = 0, differ = 0, undecided = 0;
};

void judge(const Code& flat, const std::vector<Code>& stack, const TinyShape& shape, Tally& tally) {
  verify::Options options;
  options.syscalls = 0;
  const verify::Outcome outcome = verify::prove(flat, stack, options);
  if (std::holds_alternative<program::VerifiedProgram>(outcome)) {
    ++tally.equal;
    EXPECT_FALSE(difference(flat, stack, shape.words).has_value()) << listing(flat, stack);
  } else if (const auto* shown = std::get_if<verify::Difference>(&outcome)) {
    ++tally.differ;
    EXPECT_EQ(shown->stack, program::interpret_stack(stack, shown->witness));
    EXPECT_EQ(shown->flat, program::interpret(flat, shown->witness));
    EXPECT_NE(abi::normalize(shown->stack), abi::normalize(shown->flat));
    if (!shape.arithmetic) {
      EXPECT_TRUE(difference(flat, stack, shape.words).has_value()) << listing(flat, stack);
    }
  } else {
    ++tally.undecided;
    EXPECT_TRUE(shape.unknowable || returns_a(flat) || std::any_of(stack.begin(), stack.end(), returns_a))
        << verify::to_string(outcome) << '\n'
        << listing(flat, stack);
  }
}

// Random pairs, rewritten and mutated copies, and stacks of up to three.
Tally judge_many(Random& random, int rounds, bool arithmetic, bool unknowable) {
  constexpr abi::Word kPalette[] = {abi::kNr,         abi::kArch,      abi::arg_low(0),
                                    abi::arg_high(0), abi::arg_low(5), abi::kIpLow};
  Tally tally;
  for (int i = 0; i < rounds; ++i) {
    TinyShape shape{.words = {}, .length = 3 + random() % 9, .arithmetic = arithmetic, .unknowable = unknowable};
    while (shape.words.size() < (i % 4 == 0 ? 3U : 2U)) {
      const abi::Word word = kPalette[random() % std::size(kPalette)];
      if (std::find(shape.words.begin(), shape.words.end(), word) == shape.words.end()) shape.words.push_back(word);
    }
    const Code code = tiny_code(random, shape);
    switch (i % 4) {
      case 0: judge(tiny_code(random, shape), {code}, shape, tally); break;
      case 1: judge(rewrite(random, code), {code}, shape, tally); break;
      case 2: judge(mutate(random, code), {rewrite(random, code)}, shape, tally); break;
      default: {
        const Code older = tiny_code(random, shape);
        judge(code, {older, rewrite(random, code), rewrite(random, older)}, shape, tally);
      }
    }
  }
  std::printf("equal %d, differ %d, undecided %d\n", tally.equal, tally.differ, tally.undecided);
  return tally;
}

TEST(ProveAgainstBruteForce, AgreesOnTestsOfWords) {
  Random random(seed_or(11));
  const Tally tally = judge_many(random, 12000, false, false);
  EXPECT_GT(tally.equal, 3000);
  EXPECT_GT(tally.differ, 3000);
  EXPECT_EQ(tally.undecided, 0);
}

TEST(ProveAgainstBruteForce, AgreesOnArithmetic) {
  Random random(seed_or(12));
  const Tally tally = judge_many(random, 12000, true, false);
  EXPECT_GT(tally.equal, 3000);
  EXPECT_GT(tally.differ, 3000);
  EXPECT_LT(tally.undecided, 100);
}

TEST(ProveAgainstBruteForce, IsNeverWrongAboutWhatItDoesNotCompute) {
  Random random(seed_or(13));
  const Tally tally = judge_many(random, 10000, true, true);
  EXPECT_GT(tally.equal, 2000);
  EXPECT_GT(tally.differ, 2000);
  EXPECT_LT(tally.undecided, 300);
}

TEST(ProveAgainstBruteForce, RewritingNeverMakesADifference) {
  Random random(seed_or(14));
  for (int i = 0; i < 2000; ++i) {
    const TinyShape shape{.words = {abi::kNr, abi::arg_low(0), abi::arg_low(1)},
                          .length = 4 + random() % 20,
                          .arithmetic = true,
                          .unknowable = true};
    const Code code = tiny_code(random, shape);
    verify::Options options;
    options.syscalls = 0;
    const verify::Outcome outcome = verify::prove(rewrite(random, code), std::vector<Code>{code}, options);
    EXPECT_FALSE(std::holds_alternative<verify::Difference>(outcome)) << program::disassemble(code);
  }
}

TEST(ProveAgainstBruteForce, CacheCoverageIsTheEmulators) {
  Random random(seed_or(15));
  int lost = 0, covered = 0;
  for (int i = 0; i < 3000; ++i) {
    TinyShape shape{
        .words = {abi::kNr, abi::kArch, abi::arg_low(0)}, .length = 3 + random() % 5, .arithmetic = i % 3 == 0};
    if (i % 2 == 0) shape.words.pop_back();
    const Code first = tiny_code(random, shape);
    const std::vector<Code> stack = {first, rewrite(random, i % 4 == 0 ? first : tiny_code(random, shape))};
    Code flat = tiny_code(random, shape);
    if (i % 4 == 0) {  // equal, but no call is constant any more
      flat = first;
      flat.insert(flat.begin(), ld(abi::arg_low(5)));
    }
    verify::Options options;
    options.syscalls = 12;
    const verify::Outcome outcome = verify::prove(flat, stack, options);
    const auto allowed_by_stack_only = [&](std::uint32_t arch, std::uint32_t nr) {
      return !program::is_constant_allow(flat, arch, nr) && program::is_constant_allow(stack[0], arch, nr) &&
             program::is_constant_allow(stack[1], arch, nr);
    };
    if (const auto* loss = std::get_if<verify::CacheLoss>(&outcome)) {
      ++lost;
      EXPECT_TRUE(allowed_by_stack_only(loss->arch, loss->nr)) << listing(flat, stack);
      EXPECT_FALSE(difference(flat, stack, shape.words).has_value()) << listing(flat, stack);
    } else if (std::holds_alternative<program::VerifiedProgram>(outcome)) {
      ++covered;
      for (std::uint32_t nr = 0; nr < options.syscalls; ++nr)
        for (const std::uint32_t arch : {kX8664, kI386})
          EXPECT_FALSE(allowed_by_stack_only(arch, nr)) << arch << ' ' << nr << '\n' << listing(flat, stack);
    }
  }
  std::printf("lost %d, covered %d\n", lost, covered);
  EXPECT_GT(lost, 100);
  EXPECT_GT(covered, 100);
}

// Several programs in the place of one: a random stack beside a rewritten, shuffled or mutated copy of itself.
TEST(ProveAgainstBruteForce, AgreesOnStacksInThePlaceOfStacks) {
  Random random(seed_or(16));
  int equal = 0, differ = 0;
  for (int i = 0; i < 4000; ++i) {
    const TinyShape shape{.words = {abi::kNr, abi::arg_low(0)}, .length = 3 + random() % 6, .arithmetic = i % 3 == 0};
    const std::vector<Code> stack = {tiny_code(random, shape), tiny_code(random, shape), tiny_code(random, shape)};
    std::vector<Code> flat = {rewrite(random, stack[0]), rewrite(random, stack[1]), rewrite(random, stack[2])};
    if (i % 2 == 0) std::swap(flat[random() % 3], flat[random() % 3]);
    if (i % 4 == 1) flat[1] = mutate(random, flat[1]);
    if (i % 8 == 3) flat.erase(flat.begin());
    std::optional<abi::SeccompData> witness;
    for_each_input(shape.words, [&](const abi::SeccompData& data) {
      if (abi::normalize(program::interpret_stack(flat, data)) != abi::normalize(program::interpret_stack(stack, data)))
        witness = data;
      return !witness;
    });
    verify::Options options;
    options.syscalls = 0;
    const verify::Outcome outcome = verify::prove_stack(flat, stack, options);
    if (const auto* proved = std::get_if<verify::VerifiedStack>(&outcome)) {
      ++equal;
      EXPECT_FALSE(witness) << listing(flat[0], stack);
      ASSERT_EQ(proved->programs.size(), flat.size());
      for (std::size_t k = 0; k < flat.size(); ++k)
        EXPECT_TRUE(program::same_code(proved->programs[k].view(), flat[k]));
    } else if (const auto* shown = std::get_if<verify::Difference>(&outcome)) {
      ++differ;
      EXPECT_NE(abi::normalize(program::interpret_stack(flat, shown->witness)),
                abi::normalize(program::interpret_stack(stack, shown->witness)));
    } else {
      EXPECT_TRUE(shape.arithmetic) << verify::to_string(outcome);
    }
  }
  std::printf("equal %d, differ %d\n", equal, differ);
  EXPECT_GT(equal, 1000);
  EXPECT_GT(differ, 200);
}

// ---- Mutants ------------------------------------------------------------------------------------------

const std::vector<Code>& subjects() {
  static const std::vector<Code> kAll = {
      // A list of numbers; a tree; flags of an argument; 64-bit comparisons; scratch memory and X.
      {ld(abi::kArch), jeq(kX8664, 1, 0), ret(abi::kKillProcess), ld(abi::kNr), jeq(1, 4, 0), jeq(3, 3, 0),
       jeq(5, 2, 0), jeq(59, 1, 0), ret(abi::kErrno | 1), ret(abi::kAllow)},
      {ld(abi::kNr), jge(100, 4, 0), jge(50, 1, 0), ret(abi::kAllow), jgt(60, 3, 4), ret(abi::kTrap), jge(200, 0, 1),
       ret(abi::kErrno | 38), ret(abi::kAllow), ret(abi::kErrno | 1)},
      {ld(abi::kNr), jeq(56, 0, 5), ld(abi::arg_low(0)), jset(0x7e020000, 2, 0), alu(BPF_AND, 0xff), jeq(17, 1, 0),
       ret(abi::kErrno | 1), ret(abi::kAllow)},
      {ld(abi::arg_high(1)), jgt(0, 4, 0), jeq(0, 0, 4), ld(abi::arg_low(1)), jge(0x1000, 1, 0), ret(abi::kAllow),
       ret(abi::kErrno | 22), ret(abi::kAllow)},
      {ld(abi::arg_low(0)), st(1), ld(abi::arg_low(1)), alu(BPF_ADD, 16), tax(), ld_mem(1), jump_x(BPF_JGE, 1, 0),
       ret(abi::kErrno | 1), alu(BPF_RSH, 4), alu_x(BPF_XOR), jeq(7, 0, 1), ret(abi::kTrap), ret(abi::kAllow)},
      // Arguments related; a product with a constant and a shift by an argument; a computed verdict.
      {ld(abi::kNr), jeq(9, 0, 6), ld(abi::arg_low(0)), tax(), ld(abi::arg_low(1)), jump_x(BPF_JGT, 0, 1),
       ret(abi::kErrno | 1), jump_x(BPF_JEQ, 0, 1), ret(abi::kTrap), ret(abi::kAllow)},
      {ld(abi::arg_low(0)), alu(BPF_AND, 0xff), alu(BPF_MUL, 11), tax(), ld_imm(1), alu_x(BPF_LSH), jset(0x80, 0, 1),
       ret(abi::kErrno | 1), ret(abi::kAllow)},
      {ld(abi::arg_low(0)), alu(BPF_XOR, 0x7fff0000), ret_a()},
  };
  return kAll;
}

// What emit makes of the profiles and of each of them with a guest: lists, searches, flags, 64-bit comparisons.
std::vector<Code> emitted() {
  const std::string profile = std::string(kProfiles) + "/container-default.json";
  const std::string service = std::string(kProfiles) + "/strict-service.conf";
  const std::vector<std::vector<read::LayerSpec>> stacks = {
      {{"docker", profile}}, {{"systemd", service}}, {{"systemd", service}, {"docker", profile}}};
  std::vector<Code> codes;
  for (const bool cache_model : {true, false})
    for (const auto& layers : stacks) {
      PipelineOptions options;
      options.read = {.arch = abi::Arch::x86_64, .caps = read::docker_default_caps(), .kernel = {6, 1}};
      options.emit.cache_model = cache_model;
      Stack stack = make_stack(options);
      Diagnostics diagnostics;
      for (const read::LayerSpec& layer : layers) EXPECT_TRUE(add_layer(stack, layer, options, diagnostics));
      const auto flat = flatten(stack, options);
      EXPECT_TRUE(flat);
      if (flat) codes.push_back(flat->program.code());
    }
  return codes;
}

// Constants of both, their neighbours, small numbers.
abi::SeccompData near_input(Random& random, const Code& a, const Code& b) {
  abi::SeccompData data = random_data(random, std::vector<Code>{a, b});
  if (random() % 2 == 0) data.arch = kX8664;
  for (auto& argument : data.args)
    if (random() % 2 == 0) argument &= 0xffffffffU;
  return data;
}

struct Mutants {
  int caught = 0, equal = 0;
};

// tries: inputs for each mutant that is said to be equal.
void judge_mutants(const Code& code, int tries, Random& random, Mutants& count) {
  verify::Options options;
  options.syscalls = 0;
  const std::vector<Code> stack = {code};
  for (std::size_t pc = 0; pc < code.size(); ++pc)
    for (const Code& mutant : mutants(code, pc)) {
      const verify::Outcome outcome = verify::prove(mutant, stack, options);
      if (const auto* shown = std::get_if<verify::Difference>(&outcome)) {
        ++count.caught;
        ASSERT_NE(abi::normalize(program::interpret(mutant, shown->witness)),
                  abi::normalize(program::interpret(code, shown->witness)));
        continue;
      }
      ASSERT_TRUE(std::holds_alternative<program::VerifiedProgram>(outcome)) << verify::to_string(outcome);
      ++count.equal;
      for (int i = 0; i < tries; ++i) {
        const abi::SeccompData data = near_input(random, code, mutant);
        ASSERT_EQ(abi::normalize(program::interpret(mutant, data)), abi::normalize(program::interpret(code, data)))
            << listing(mutant, stack);
      }
    }
}

TEST(ProveCatchesMutants, EachIsToldApartOrProvedEqual) {
  Random random(seed_or(16));
  Mutants count;
  for (const Code& code : subjects()) judge_mutants(code, 20'000, random, count);
  std::printf("caught %d, equal %d\n", count.caught, count.equal);
  EXPECT_GT(count.caught, 170);
}

TEST(ProveCatchesMutants, OfEmittedProgramsToo) {
  Random random(seed_or(17));
  Mutants count;
  const std::vector<Code> codes = emitted();
  ASSERT_EQ(codes.size(), 6U);
  for (const Code& code : codes) judge_mutants(code, 2'000, random, count);
  std::printf("caught %d, equal %d\n", count.caught, count.equal);
  EXPECT_GT(count.caught, 1000);
}

}  // namespace
}  // namespace seccompress::test
