// SPDX-License-Identifier: Apache-2.0
// Bytes <-> instructions. struct sock_filter has no padding, so both ways are one copy.
#include <cstring>
#include <type_traits>

#include "program/program.h"

namespace seccompress::program {

static_assert(sizeof(Instruction) == 8 && std::is_trivially_copyable_v<Instruction>);

Result<Code> from_bytes(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) return failure(Errc::malformed, name + ": empty, not a program");
  if (bytes.size() % sizeof(Instruction) != 0)
    return failure(Errc::malformed, name + ": size " + std::to_string(bytes.size()) + " is not a multiple of 8");
  Code code(bytes.size() / sizeof(Instruction));
  std::memcpy(code.data(), bytes.data(), bytes.size());
  return code;
}

std::string to_bytes(CodeView code) { return {reinterpret_cast<const char*>(code.data()), code.size_bytes()}; }

bool same_code(CodeView a, CodeView b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size_bytes()) == 0);
}

}  // namespace seccompress::program
