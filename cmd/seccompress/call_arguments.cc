// SPDX-License-Identifier: Apache-2.0
#include "call_arguments.h"

#include <linux/audit.h>

#include <charconv>
#include <cstring>

#include "abi/syscalls.h"

namespace seccompress::cmd {
namespace {

struct Base {
  int base;
  std::size_t prefix;
};
// As C and strace have it: 0755 is octal.
Base base_of(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) return {16, 2};
  return text.size() > 1 && text[0] == '0' ? Base{8, 1} : Base{10, 0};
}

// 493, 0x1ed, 0755, each with a minus before it or without.
std::optional<std::uint64_t> number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  const auto [base, prefix] = base_of(text);
  text.remove_prefix(prefix);
  std::uint64_t value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (status != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (negative && value > std::uint64_t{1} << 63) return std::nullopt;
  return negative ? 0 - value : value;
}

bool looks_like_a_number(std::string_view text) {
  return !text.empty() && (text[0] == '-' || (text[0] >= '0' && text[0] <= '9'));
}

}  // namespace

std::optional<std::vector<std::string>> take_after_dashes(int& argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--") != 0) continue;
    std::vector<std::string> rest(argv + i + 1, argv + argc);
    argc = i;
    return rest;
  }
  return std::nullopt;
}

Result<abi::Arch> parse_call_arch(const std::string& name, abi::Arch otherwise) {
  if (name.empty()) return otherwise;
  if (name == "i386") return abi::Arch::x86;
  if (const auto arch = abi::arch_from_name(name)) return *arch;
  return failure(Errc::malformed,
                 "--call-arch: unknown architecture '" + name + "'; x86_64, i386 and x32 are some of those known");
}

Result<std::uint32_t> parse_syscall(const std::string& text, abi::Arch arch) {
  if (looks_like_a_number(text)) {
    const auto value = number(text);
    if (!value || (*value > UINT32_MAX && *value < UINT64_MAX - INT32_MAX))
      return failure(Errc::malformed, "'" + text + "' is not a system call number");
    const auto nr = static_cast<std::uint32_t>(*value);
    return arch == abi::Arch::x32 ? nr | abi::kX32Bit : nr;
  }
  if (const auto nr = abi::syscall_number(arch, text)) return *nr;
  const std::string where(abi::arch_name(arch));
  if (abi::is_syscall_name(text))
    return failure(Errc::malformed,
                   "'" + text + "' is no system call of " + where + "; --call-arch names another architecture");
  return failure(Errc::malformed, "unknown system call '" + text + "'; a number works too");
}

Result<explain::PartialCall> parse_call(const std::vector<std::string>& words, abi::Arch arch) {
  if (words.empty()) return failure(Errc::malformed, "no system call given; LAYER... -- SYSCALL [ARG...]");
  if (words.size() > 7) return failure(Errc::malformed, "a system call has at most six arguments");
  explain::PartialCall call;
  call.arch = abi::facts(arch).audit;
  TRY_ASSIGN(call.nr, parse_syscall(words[0], arch));
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "_") continue;
    const auto value = number(words[i]);
    if (!value)
      return failure(Errc::malformed,
                     "argument '" + words[i] +
                         "' is not a number; decimal, 0x..., 0... (octal), negative, or _ for any (a pointer: _ or 0)");
    call.values[i - 1] = abi::is_32_bit(abi::facts(arch).audit) ? *value & UINT32_MAX : *value;
  }
  return call;
}

}  // namespace seccompress::cmd
