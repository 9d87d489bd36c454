// SPDX-License-Identifier: Apache-2.0
// A growing array that is never copied: a vector that grows holds its items twice for a moment, and half a million
// nodes are most of what a proof needs. Items stay where they are.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace seccompress::verify {

template <class Item>
class Chunks {
 public:
  std::size_t size() const { return size_; }
  const Item& operator[](std::size_t at) const { return chunks_[at / kChunk][at % kChunk]; }
  void push_back(Item item) {
    if (size_ == chunks_.size() * kChunk) chunks_.push_back(std::make_unique_for_overwrite<Item[]>(kChunk));
    chunks_[size_ / kChunk][size_ % kChunk] = item;
    ++size_;
  }
  void clear() { size_ = 0; }  // keeps its memory

 private:
  static constexpr std::size_t kChunk = std::size_t{1} << 13;
  std::vector<std::unique_ptr<Item[]>> chunks_;
  std::size_t size_ = 0;
};

}  // namespace seccompress::verify
