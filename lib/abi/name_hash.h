// SPDX-License-Identifier: Apache-2.0
// The hash of system call names that the build-time table (generate_syscalls.cc) and its reader share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace seccompress::abi {

inline constexpr std::size_t kNameSlots = 2048;

constexpr std::uint32_t hash_name(std::string_view name) {  // FNV-1a
  std::uint32_t hash = 2166136261U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash ^ hash >> 15;
}

}  // namespace seccompress::abi
