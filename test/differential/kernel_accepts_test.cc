// SPDX-License-Identifier: Apache-2.0
// program/ against the kernel this runs on: check() says yes exactly when seccomp(2) does, converted_length() is
// what the kernel adds up, and the interpreter gives the errno that the call gives.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <functional>
#include <future>
#include <thread>

#include "abi/arch.h"
#include "support/random_code.h"
#include "support/tiny_code.h"

namespace seccompress::test {
namespace {

using abi::kAllow, abi::kErrno, abi::kNr;

// 0, or the errno.
int install(const Code& code) {
  constexpr unsigned kSetModeFilter = 1;  // include/uapi/linux/seccomp.h
  const sock_fprog program{static_cast<unsigned short>(code.size()), const_cast<sock_filter*>(code.data())};
  return ::syscall(SYS_seccomp, kSetModeFilter, 0, &program) == 0 ? 0 : errno;
}

// Numbers that a child writes and its parent reads.
class Shared {
 public:
  explicit Shared(std::size_t count, int value) : size_(count * sizeof(int)) {
    void* memory = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    data_ = static_cast<int*>(memory);
    for (std::size_t i = 0; i < count; ++i) data_[i] = value;
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { ::munmap(data_, size_); }
  int& operator[](std::size_t i) { return data_[i]; }

 private:
  std::size_t size_;
  int* data_ = nullptr;
};

// Runs body in a child that may attach programs.
void in_child(const std::function<void()>& body) {
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(20);
    ::prctl(PR_SET_DUMPABLE, 0);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) body();
    ::_exit(0);
  }
  ASSERT_GT(child, 0);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

// Would the kernel attach it? Asked with TSYNC while another thread has a filter that the caller does not have:
// the program is looked at first, and what is acceptable then fails on the thread (kernel/seccomp.c
// seccomp_set_mode_filter, seccomp_can_sync_threads). So nothing is ever attached and one child asks for all.
int would_install(const Code& code) {
  constexpr unsigned kSetModeFilter = 1, kTsync = 1;
  const sock_fprog program{static_cast<unsigned short>(code.size()), const_cast<sock_filter*>(code.data())};
  const long answer = ::syscall(SYS_seccomp, kSetModeFilter, kTsync, &program);
  return answer > 0 ? 0 : answer == 0 ? -2 : errno;
}

std::vector<int> ask_kernel(const std::vector<Code>& codes) {
  Shared answers(codes.size() + 1, -1);
  in_child([&] {
    std::promise<int> installed;
    std::thread([&] {
      installed.set_value(install({ret(kAllow)}));
      for (;;) ::pause();
    }).detach();
    if (installed.get_future().get() != 0) return;
    for (std::size_t i = 0; i < codes.size(); ++i) answers[i] = would_install(codes[i]);
  });
  std::vector<int> result;
  for (std::size_t i = 0; i < codes.size(); ++i) result.push_back(answers[i]);
  return result;
}

std::string explain(const Code& code) {
  const auto checked = program::check(code);
  std::string bytes;
  for (const Instruction& insn : code) {
    char line[64];
    std::snprintf(line, sizeof line, "{0x%x, %u, %u, 0x%x}\n", insn.code, insn.jt, insn.jf, insn.k);
    bytes += line;
  }
  return (checked ? "check() accepts" : "check() refuses: " + checked.error().what) + "\n" +
         (code.size() > 64 ? std::to_string(code.size()) + " instructions" : bytes);
}

void expect_agreement(const std::vector<Code>& codes, std::size_t at_least_each) {
  const std::vector<int> answers = ask_kernel(codes);
  std::size_t accepted = 0, refused = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    ASSERT_TRUE(answers[i] == 0 || answers[i] == EINVAL) << answers[i] << '\n' << explain(codes[i]);
    EXPECT_EQ(answers[i] == 0, program::check(codes[i]).has_value()) << explain(codes[i]);
    ++(answers[i] == 0 ? accepted : refused);
  }
  std::printf("accepted %zu, refused %zu\n", accepted, refused);
  EXPECT_GE(accepted, at_least_each);
  EXPECT_GE(refused, at_least_each);
}

std::uint32_t below(Random& random, std::uint32_t limit) { return static_cast<std::uint32_t>(random() % limit); }

// A field of an instruction, near the edges that the rules know.
void damage(Random& random, Code& code) {
  constexpr std::uint32_t kEdges[] = {0, 1, 4, 15, 16, 31, 32, 60, 62, 64, 0x7fffffff, 0xfffff000, 0xffffffff};
  Instruction& insn = code[random() % code.size()];
  switch (random() % 6) {
    case 0: insn.code = static_cast<std::uint16_t>(below(random, 0x100)); break;
    case 1: insn.code = static_cast<std::uint16_t>(insn.code ^ 1U << below(random, 10)); break;
    case 2: insn.k = kEdges[random() % std::size(kEdges)]; break;
    case 3: insn.jt = static_cast<std::uint8_t>(below(random, static_cast<std::uint32_t>(code.size()) + 1)); break;
    case 4: insn.jf = static_cast<std::uint8_t>(below(random, 256)); break;
    default: insn.k = below(random, static_cast<std::uint32_t>(code.size()) + 1); break;
  }
}

Code random_accepted(Random& random) {
  if (random() % 3 == 0) return random_code(random, {.length = 4 + random() % 30});
  return tiny_code(random, {.words = {abi::kNr, abi::kArch, abi::arg_low(0), abi::arg_high(2)},
                            .length = 2 + random() % 20,
                            .arithmetic = random() % 3 != 0,
                            .unknowable = true});
}

TEST(KernelAccepts, WhatCheckAccepts) {
  Random random(seed_or(21));
  std::vector<Code> codes;
  for (int i = 0; i < 6000; ++i) {
    codes.push_back(random_accepted(random));
    for (std::size_t damages = random() % 3; damages > 0; --damages) damage(random, codes.back());
    if (random() % 20 == 0) codes.back().pop_back();
  }
  expect_agreement(codes, 1000);
}

TEST(KernelAccepts, EachOpcodeThatCheckAccepts) {
  std::vector<Code> codes;
  for (unsigned code = 0; code < 0x200; ++code)
    for (const std::uint32_t k : {0U, 1U, 31U, 32U})
      codes.push_back({st(0), st(1), ldx_imm(1), raw(code, k), ret(kAllow), ret(kAllow), ret(kAllow)});
  expect_agreement(codes, 100);
}

TEST(KernelAccepts, ReadsOfScratchThatCheckAccepts) {
  Random random(seed_or(22));
  std::vector<Code> codes;
  for (int i = 0; i < 3000; ++i) {
    Code code;
    const std::uint32_t length = 3 + below(random, 9);
    for (std::uint32_t pc = 0; pc < length; ++pc) {
      const std::uint32_t left = length - pc;
      const Instruction some[] = {ld_mem(below(random, 2)),
                                  st(below(random, 2)),
                                  stx(below(random, 2)),
                                  st(0),
                                  st(1),
                                  ja(below(random, left)),
                                  jeq(0, below(random, left), below(random, left)),
                                  ret(kAllow)};
      code.push_back(some[random() % std::size(some)]);
    }
    code.push_back(ret(kAllow));
    codes.push_back(std::move(code));
  }
  expect_agreement(codes, 500);
}

TEST(KernelAccepts, LengthsThatCheckAccepts) {
  const std::vector<Code> codes = {Code(1, ret(kAllow)),    Code(4095, ret(kAllow)), Code(4096, ret(kAllow)),
                                   Code(4097, ret(kAllow)), Code(5000, ret(kAllow)), {}};
  expect_agreement(codes, 3);
}

// How often a program fits: the sum of converted lengths, and 4 for each older one, is at most 32768
// (kernel/seccomp.c seccomp_attach_filter).
int copies_until_enomem(const Code& code) {
  Shared answer(2, 0);
  in_child([&] {
    while ((answer[1] = install(code)) == 0) ++answer[0];
  });
  EXPECT_EQ(answer[1], ENOMEM);
  return answer[0];
}

TEST(ConvertedLength, IsWhatTheKernelAddsUp) {
  const auto many = [](std::vector<Instruction> part, std::size_t times) {
    Code code = {ldx_imm(1)};
    for (std::size_t i = 0; i < times; ++i) code.insert(code.end(), part.begin(), part.end());
    code.insert(code.end(), {ret(kAllow), ret(kAllow), ret(kAllow)});
    return code;
  };
  const Code table[] = {
      {ret(kAllow)},
      {ld(kNr), jeq(99999, 0, 1), ret(kAllow), ret(kAllow)},
      many({ld(kNr)}, 1000),
      many({alu_x(BPF_DIV)}, 1000),
      many({alu(BPF_DIV, 3), alu(BPF_OR, 0xffffffff), neg(), tax(), ldx_imm(1)}, 200),
      many({st(3), ld_mem(3), stx(4), ldx_mem(4), ld_len(), ld_imm(0x80000000), txa()}, 150),
      many({ja(0)}, 1000),
      many({jeq(1, 0, 0)}, 1000),
      many({jeq(1, 0, 1)}, 1000),
      many({jeq(1, 1, 0)}, 1000),
      many({jgt(1, 1, 2)}, 1000),
      many({jset(1, 0, 1)}, 1000),
      many({jset(1, 1, 0)}, 1000),
      many({jge(0x80000000, 0, 1)}, 1000),
      many({jge(0x80000000, 1, 2)}, 1000),
      many({jump_x(BPF_JGT, 0, 1), jump_x(BPF_JSET, 0, 1), jump_x(BPF_JEQ, 2, 1)}, 300),
      many({ret(kAllow)}, 1000),
  };
  for (const Code& code : table) {
    const std::uint32_t expected = (program::kMaxChainLength + program::kChainPenalty) /
                                   (program::converted_length(code) + program::kChainPenalty);
    EXPECT_EQ(copies_until_enomem(code), static_cast<int>(expected)) << program::converted_length(code);
  }
}

// The program behind a guard that lets every real call pass; each verdict is an errno of its own.
Code guarded(const Code& code) {
  Code all = {ld(kNr), jge(500, 1, 0), ret(kAllow), ld_imm(0)};
  all.insert(all.end(), code.begin(), code.end());
  for (std::size_t pc = 4; pc < all.size(); ++pc) {
    const bool is_last = pc + 1 == all.size();
    if (all[pc].code == (BPF_RET | BPF_K)) all[pc].k = kErrno | (1 + all[pc].k % 4000);
    if (all[pc].code == (BPF_RET | BPF_A) && !is_last) all[pc] = ret(kErrno | 4001);
  }
  if (all.back().code == (BPF_RET | BPF_A)) {
    all.back() = alu(BPF_AND, 0xfff);
    all.insert(all.end(), {alu(BPF_OR, kErrno), ret_a()});
  }
  return all;
}

int errno_of_call(const abi::SeccompData& data) {
  const auto argument = [&](int i) { return static_cast<long>(data.args[i]); };
  const long answer = ::syscall(data.nr, argument(0), argument(1), argument(2), argument(3), argument(4), argument(5));
  return answer == -1 ? errno : 0;
}

TEST(Interpreter, GivesTheErrnoThatTheKernelGives) {
  Random random(seed_or(23));
  constexpr std::size_t kInputs = 40;
  int compared = 0, nonzero = 0;
  for (int round = 0; round < 250; ++round) {
    const Code plain =
        random() % 2 == 0 ? random_accepted(random) : random_code(random, {.length = 20, .many_words = false});
    const Code code = guarded(plain);
    ASSERT_TRUE(program::check(code)) << explain(code);
    std::vector<abi::SeccompData> inputs;
    while (inputs.size() < kInputs) {
      abi::SeccompData data = random_data(random, std::vector<Code>{plain});
      if (random() % 2 == 0)
        for (auto& argument : data.args) argument = random() % 10;
      data.arch = abi::facts(abi::native_arch()).audit;
      data.nr = static_cast<int>(500 + (static_cast<std::uint32_t>(data.nr) & 0x3fffffff));
      data.instruction_pointer = 0;
      inputs.push_back(data);
    }
    Shared answers(kInputs, -1);
    in_child([&] {
      if (install(code) != 0) return;
      for (std::size_t i = 0; i < kInputs; ++i) {
        // A division by 0 would kill the child: not asked.
        const bool errno_verdict = abi::action_word(program::interpret(code, inputs[i])) == kErrno;
        if (errno_verdict) answers[i] = errno_of_call(inputs[i]);
      }
    });
    const bool loads_ip = std::any_of(code.begin(), code.end(), [](const Instruction& insn) {
      return insn.code == (BPF_LD | BPF_W | BPF_ABS) && (insn.k == 8 || insn.k == 12);
    });
    for (std::size_t i = 0; i < kInputs && !loads_ip; ++i) {
      const abi::Verdict verdict = program::interpret(code, inputs[i]);
      if (abi::action_word(verdict) != kErrno) continue;
      ++compared;
      nonzero += answers[i] > 1 ? 1 : 0;
      ASSERT_EQ(answers[i], static_cast<int>(abi::data(abi::normalize(verdict)))) << explain(code);
    }
  }
  std::printf("compared %d calls, %d with an errno above 1\n", compared, nonzero);
  EXPECT_GT(compared, 5000);
  EXPECT_GT(nonzero, 1000);
}

}  // namespace
}  // namespace seccompress::test
