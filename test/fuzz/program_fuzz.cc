// SPDX-License-Identifier: Apache-2.0
// Bytes as a program: everything in program/ is total on them, and prove() never calls a program different from
// itself with a jump to its start put before it.
#include <algorithm>
#include <cstdint>

#include "program/program.h"
#include "support/check.h"
#include "verify/verify.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace seccompress;
  const auto code = program::from_bytes({reinterpret_cast<const char*>(data), size}, "fuzz");
  if (!code) return 0;
  const std::string listing = program::disassemble(*code);
  CHECK(static_cast<std::size_t>(std::count(listing.begin(), listing.end(), '\n')) == code->size());
  CHECK(program::converted_length(*code) >= code->size());
  if (!program::check(*code)) return 0;
  CHECK(program::same_code(*program::from_bytes(program::to_bytes(*code), "again"), *code));

  abi::SeccompData input{};
  std::copy_n(data, std::min(size, sizeof input), reinterpret_cast<std::uint8_t*>(&input));
  const program::Run run = program::run(*code, input);
  CHECK(run.verdict == program::interpret(*code, input));
  CHECK(run.executed <= code->size() && run.executed <= run.executed_converted);
  CHECK(!program::is_constant_allow(*code, input.arch, static_cast<std::uint32_t>(input.nr)) ||
        run.verdict == abi::kAllow);

  program::Code longer = *code;
  longer.insert(longer.begin(), {BPF_JMP | BPF_JA, 0, 0, 0});
  verify::Options options;
  options.limits.steps = 2'000'000;
  const std::vector<program::Code> stack = {*code};
  const verify::Outcome outcome = verify::prove(longer, stack, options);
  CHECK(!std::holds_alternative<verify::Difference>(outcome) && !std::holds_alternative<verify::CacheLoss>(outcome));
  CHECK(longer.size() > program::kMaxInstructions || !std::holds_alternative<verify::Unacceptable>(outcome));
  return 0;
}
