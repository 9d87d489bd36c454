// SPDX-License-Identifier: Apache-2.0
#include "abi/syscalls.h"

#include <algorithm>
#include <array>
#include <vector>

namespace seccompress::abi {
namespace {

struct Entry {
  Arch arch;
  std::string_view name;
  std::uint32_t number;
};

// Sorted by (arch, name) by the generator.
constexpr Entry kTable[] = {
#define SYSCALL(arch, name, number) {Arch::arch, name, number},
#include "syscall_table.inc"
#undef SYSCALL
};

constexpr bool before(const Entry& a, const Entry& b) {
  return a.arch != b.arch ? a.arch < b.arch : a.name < b.name;
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
    for (const Entry& entry : kTable) entries.push_back({facts(entry.arch).audit, entry.number, entry.name});
    std::stable_sort(entries.begin(), entries.end());
    return entries;
  }();
  return index;
}

}  // namespace

std::optional<std::uint32_t> syscall_number(Arch arch, std::string_view name) {
  const Entry wanted{arch, name, 0};
  const auto* found = std::lower_bound(std::begin(kTable), std::end(kTable), wanted, before);
  if (found == std::end(kTable) || found->arch != arch || found->name != name) return std::nullopt;
  return found->number;
}

bool is_syscall_name(std::string_view name) {
  for (const ArchFacts& arch : all_arches())
    if (syscall_number(arch.arch, name)) return true;
  return false;
}

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
