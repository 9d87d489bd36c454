// SPDX-License-Identifier: Apache-2.0
// Open-addressing index over items that the caller keeps in a vector: item number by hash, no heap per item.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace seccompress::verify {

constexpr std::uint64_t mix(std::uint64_t x) {  // finalizer of splitmix64
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebU;
  return x ^ x >> 31;
}

class HashIndex {
 public:
  explicit HashIndex(std::size_t size = 64) : slots_(size) {}

  // The item for which is_it(number) holds among those filed under `hash`, or `next` after filing it.
  // hash_of(number) gives the hash of a filed item (used when the table grows).
  template <class IsIt, class HashOf>
  std::uint32_t find_or_file(std::uint64_t hash, std::uint32_t next, IsIt is_it, HashOf hash_of) {
    if (3 * (used_ + 1) > 2 * slots_.size()) grow(hash_of);
    for (std::size_t at = hash & (slots_.size() - 1);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at] == 0) {
        slots_[at] = next + 1;
        ++used_;
        return next;
      }
      if (is_it(slots_[at] - 1)) return slots_[at] - 1;
    }
  }

  template <class IsIt>
  bool find(std::uint64_t hash, IsIt is_it) const {
    for (std::size_t at = hash & (slots_.size() - 1); slots_[at] != 0; at = (at + 1) & (slots_.size() - 1))
      if (is_it(slots_[at] - 1)) return true;
    return false;
  }

  void clear() {
    slots_.assign(slots_.size(), 0);
    used_ = 0;
  }

 private:
  template <class HashOf>
  void grow(HashOf hash_of) {
    std::vector<std::uint32_t> old(slots_.size() * 2);
    old.swap(slots_);
    for (const std::uint32_t slot : old) {
      if (slot == 0) continue;
      std::size_t at = hash_of(slot - 1) & (slots_.size() - 1);
      while (slots_[at] != 0) at = (at + 1) & (slots_.size() - 1);
      slots_[at] = slot;
    }
  }

  std::vector<std::uint32_t> slots_;  // number + 1, 0 = free; a power of two
  std::size_t used_ = 0;
};

}  // namespace seccompress::verify
