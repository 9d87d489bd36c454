// SPDX-License-Identifier: Apache-2.0
// The sixteen 32-bit words of struct seccomp_data as a classic-BPF program sees them
// (include/uapi/linux/seccomp.h): word index = byte offset / 4, host byte order.
#pragma once

#include <linux/seccomp.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

namespace seccompress::abi {

static_assert(std::endian::native == std::endian::little, "the low half of an argument comes first only here");

using SeccompData = ::seccomp_data;  // nr (s32), arch (u32), instruction_pointer (u64), args[6] (u64)
static_assert(sizeof(SeccompData) == 64);

using Word = std::uint8_t;
inline constexpr Word kNr = 0, kArch = 1, kIpLow = 2, kIpHigh = 3, kArgs = 4;
inline constexpr int kWords = 16;

constexpr Word arg_low(unsigned index) { return static_cast<Word>(kArgs + 2 * index); }
constexpr Word arg_high(unsigned index) { return static_cast<Word>(kArgs + 2 * index + 1); }

inline std::uint32_t read_word(const SeccompData& data, Word word) {
  std::uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const char*>(&data) + std::size_t{4} * word, sizeof value);
  return value;
}
inline void write_word(SeccompData& data, Word word, std::uint32_t value) {
  std::memcpy(reinterpret_cast<char*>(&data) + std::size_t{4} * word, &value, sizeof value);
}

// "nr", "arch", "ip.lo", "ip.hi", "a0.lo", "a0.hi", ...
std::string word_name(Word word);

}  // namespace seccompress::abi
