// SPDX-License-Identifier: Apache-2.0
#include "abi/syscalls.h"

#include <algorithm>
#include <vector>

#include "abi/name_hash.h"

namespace seccompress::abi {
namespace {

constexpr std::uint32_t kNone = SyscallNumbers::kNone;
constexpr std::size_t kArchCount = 0
#define ARCH(name, oci, docker, audit, token) +1
#include "abi/arch.def"
#undef ARCH
    ;

struct Row {
  std::string_view name;
  std::uint32_t numbers[kArchCount];
};

constexpr Row kRows[] = {
#define ROW(name, ...) {name, {__VA_ARGS__}},
#define SLOT(row)
#include "syscall_table.inc"
#undef ROW
#undef SLOT
};

constexpr std::uint16_t kSlots[kNameSlots] = {
#define ROW(name, ...)
#define SLOT(row) row,
#include "syscall_table.inc"
#undef ROW
#undef SLOT
};

const Row* find_row(std::string_view name) {
  for (std::size_t slot = hash_name(name) % kNameSlots; kSlots[slot] != 0; slot = (slot + 1) % kNameSlots)
    if (const Row& row = kRows[kSlots[slot] - 1U]; row.name == name) return &row;
  return nullptr;
}

struct NumberEntry {
  std::uint32_t audit, number;
  std::string_view name;
  bool operator<(const NumberEntry& other) const {
    return audit != other.audit ? audit < other.audit : number < other.number;
  }
};

// By (audit word, number); built once, only for those who print names.
const std::vector<NumberEntry>& by_number() {
  static const std::vector<NumberEntry> index = [] {
    std::vector<NumberEntry> entries;
    for (const Row& row : kRows)
      for (const ArchFacts& arch : all_arches())
        if (const std::uint32_t number = row.numbers[static_cast<std::size_t>(arch.arch)]; number != kNone)
          entries.push_back({arch.audit, number, row.name});
    std::stable_sort(entries.begin(), entries.end());
    return entries;
  }();
  return index;
}

}  // namespace

SyscallNumbers syscall_numbers(std::string_view name) {
  const Row* row = find_row(name);
  return row == nullptr ? SyscallNumbers() : SyscallNumbers(row->numbers);
}

std::optional<std::uint32_t> syscall_number(Arch arch, std::string_view name) { return syscall_numbers(name).on(arch); }

bool is_syscall_name(std::string_view name) { return find_row(name) != nullptr; }

std::string_view syscall_name(std::uint32_t audit_arch, std::uint32_t nr) {
  const std::vector<NumberEntry>& index = by_number();
  const NumberEntry wanted{audit_arch, nr, {}};
  const auto found = std::lower_bound(index.begin(), index.end(), wanted);
  if (found == index.end() || found->audit != audit_arch || found->number != nr) return {};
  return found->name;
}

std::string syscall_label(std::uint32_t audit_arch, std::uint32_t nr) {
  const std::string_view name = syscall_name(audit_arch, nr);
  if (!name.empty()) return std::string(name);
  if (nr < 0x40000000U) return std::to_string(nr);
  constexpr char kHex[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += kHex[(nr >> static_cast<unsigned>(shift)) & 15U];
  return text;
}

}  // namespace seccompress::abi
