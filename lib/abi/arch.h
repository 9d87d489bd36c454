// SPDX-License-Identifier: Apache-2.0
// Architectures that a policy can name.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace seccompress::abi {

enum class Arch : std::uint8_t {
#define ARCH(name, oci, docker, audit, token) name,
#include "abi/arch.def"
#undef ARCH
};

inline constexpr std::uint32_t kX32Bit = 0x40000000U;  // __X32_SYSCALL_BIT

struct ArchFacts {
  Arch arch;
  std::string_view oci;     // "SCMP_ARCH_X86_64"
  std::string_view docker;  // "amd64": archMap keys and includes.arches
  std::uint32_t audit;      // seccomp_data.arch
  std::uint32_t token;      // libseccomp's SCMP_ARCH_*
};

std::span<const ArchFacts> all_arches();
const ArchFacts& facts(Arch arch);
Arch native_arch();
std::optional<Arch> arch_from_oci(std::string_view name);     // "SCMP_ARCH_X86_64"; not "SCMP_ARCH_NATIVE"
std::optional<Arch> arch_from_docker(std::string_view name);  // "amd64"
std::optional<Arch> arch_from_name(std::string_view name);    // any spelling: "x86_64", "amd64", "SCMP_ARCH_X86_64"
std::string_view arch_name(Arch arch);                        // "x86_64"
std::string audit_name(std::uint32_t audit);                  // "x86_64", "i386" for x86; hex when unknown
bool is_big_endian(Arch arch);
bool is_32_bit(std::uint32_t audit);  // no __AUDIT_ARCH_64BIT; x32 shares x86_64's word and is none

}  // namespace seccompress::abi
