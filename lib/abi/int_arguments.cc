// SPDX-License-Identifier: Apache-2.0
#include "abi/int_arguments.h"

namespace seccompress::abi {
namespace {

struct Entry {
  std::string_view name;
  unsigned arguments;
};

constexpr Entry kEntries[] = {
#define INT_ARGUMENTS(name, mask) {#name, mask},
#include "abi/int_arguments.def"
#undef INT_ARGUMENTS
};

}  // namespace

bool is_int_argument(std::string_view syscall, unsigned index) {
  for (const Entry& entry : kEntries)
    if (entry.name == syscall) return ((entry.arguments >> index) & 1U) != 0;
  return false;
}

}  // namespace seccompress::abi
