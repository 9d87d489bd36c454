// SPDX-License-Identifier: Apache-2.0
// System call names and numbers for every architecture, from the libseccomp this was built with
// (generate_syscalls.cc writes a hash table at build time: looking names up in libseccomp itself is a linear
// search, 3 ms for one docker profile).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "abi/arch.h"

namespace seccompress::abi {

// The number as seccomp_data.nr holds it (x32 numbers include bit 30). nullopt: unknown on this
// architecture. Numbers above INT_MAX do not occur.
std::optional<std::uint32_t> syscall_number(Arch arch, std::string_view name);

// The numbers of one name, for those who ask for several architectures.
class SyscallNumbers {
 public:
  SyscallNumbers() = default;  // an unknown name's
  explicit SyscallNumbers(const std::uint32_t* by_arch) : by_arch_(by_arch) {}
  std::optional<std::uint32_t> on(Arch arch) const {
    const std::uint32_t number = by_arch_ == nullptr ? kNone : by_arch_[static_cast<std::size_t>(arch)];
    return number == kNone ? std::nullopt : std::optional(number);
  }
  static constexpr std::uint32_t kNone = UINT32_MAX;

 private:
  const std::uint32_t* by_arch_ = nullptr;
};
SyscallNumbers syscall_numbers(std::string_view name);

// Does any architecture know this name?
bool is_syscall_name(std::string_view name);

// Name of (seccomp_data.arch, seccomp_data.nr); "" when unknown.
std::string_view syscall_name(std::uint32_t audit_arch, std::uint32_t nr);

// Name, or the number in decimal (hex with bit 31 or 30 set): always printable.
std::string syscall_label(std::uint32_t audit_arch, std::uint32_t nr);

}  // namespace seccompress::abi
