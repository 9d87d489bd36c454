// SPDX-License-Identifier: Apache-2.0
// Steps that a proof may still take; shared by all its parts, so that any input ends in bounded time.
#pragma once

#include <cstdint>

namespace seccompress::verify {

class Budget {
 public:
  explicit Budget(std::uint64_t steps) : left_(steps) {}
  void spend(std::uint64_t steps) { left_ = steps < left_ ? left_ - steps : 0; }
  bool exhausted() const { return left_ == 0; }

 private:
  std::uint64_t left_;
};

}  // namespace seccompress::verify
