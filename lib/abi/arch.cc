// SPDX-License-Identifier: Apache-2.0
#include "abi/arch.h"

#include <fmt/core.h>

#include <array>

namespace seccompress::abi {
namespace {

constexpr std::array kArches = {
#define ARCH(name, oci, docker, audit, token) ArchFacts{Arch::name, oci, docker, audit, token},
#include "abi/arch.def"
#undef ARCH
};

constexpr std::array kNames = {
#define ARCH(name, oci, docker, audit, token) std::string_view(#name),
#include "abi/arch.def"
#undef ARCH
};

constexpr std::uint32_t kLittleEndianBit = 0x40000000U;  // __AUDIT_ARCH_LE
constexpr std::uint32_t k64Bit = 0x80000000U;            // __AUDIT_ARCH_64BIT

}  // namespace

std::span<const ArchFacts> all_arches() { return kArches; }
const ArchFacts& facts(Arch arch) { return kArches.at(static_cast<std::size_t>(arch)); }
std::string_view arch_name(Arch arch) { return kNames.at(static_cast<std::size_t>(arch)); }
bool is_big_endian(Arch arch) { return (facts(arch).audit & kLittleEndianBit) == 0; }

Arch native_arch() {
#if defined(__x86_64__)
  return Arch::x86_64;
#elif defined(__aarch64__)
  return Arch::aarch64;
#elif defined(__riscv) && __riscv_xlen == 64
  return Arch::riscv64;
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
  return Arch::ppc64le;
#else
#error "add this machine to native_arch()"
#endif
}

bool is_32_bit(std::uint32_t audit) { return (audit & k64Bit) == 0; }

std::optional<Arch> arch_from_oci(std::string_view name) {
  for (const ArchFacts& entry : kArches)
    if (entry.oci == name) return entry.arch;
  return std::nullopt;
}

std::optional<Arch> arch_from_docker(std::string_view name) {
  for (const ArchFacts& entry : kArches)
    if (entry.docker == name) return entry.arch;
  return std::nullopt;
}

std::optional<Arch> arch_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i] == name) return kArches[i].arch;
  if (auto arch = arch_from_docker(name)) return arch;
  return arch_from_oci(name);
}

std::string audit_name(std::uint32_t audit) {
  if (audit == facts(Arch::x86).audit) return "i386";
  for (std::size_t i = 0; i < kArches.size(); ++i)
    if (kArches[i].audit == audit) return std::string(kNames[i]);
  return fmt::format("{:#010x}", audit);
}

}  // namespace seccompress::abi
