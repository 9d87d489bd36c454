// SPDX-License-Identifier: Apache-2.0
#include "abi/call.h"

#include <array>
#include <charconv>

#include "abi/arch.h"
#include "abi/syscalls.h"

namespace seccompress::abi {
namespace {

std::string number_text(std::uint64_t value) {
  std::array<char, 24> digits{};
  const bool small = value < 10;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value, small ? 10 : 16).ptr;
  return (small ? "" : "0x") + std::string(digits.data(), end);
}

}  // namespace

std::string call_text(const SeccompData& data) {
  unsigned shown = 6;
  while (shown > 0 && data.args[shown - 1] == 0) --shown;
  std::string text = audit_name(data.arch) + ' ' + syscall_label(data.arch, static_cast<std::uint32_t>(data.nr)) + '(';
  for (unsigned i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + number_text(data.args[i]);
  text += ')';
  if (data.instruction_pointer != 0) text += " at ip " + number_text(data.instruction_pointer);
  return text;
}

}  // namespace seccompress::abi
