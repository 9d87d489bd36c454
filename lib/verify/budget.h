// SPDX-License-Identifier: Apache-2.0
// Steps that a proof may still take; shared by all its parts, so that any input ends in bounded time. One attempt
// at a cell has a smaller allowance of its own.
#pragma once

#include <cstdint>

namespace seccompress::verify {

class Budget {
 public:
  explicit Budget(std::uint64_t steps) : left_(steps), attempt_(steps) {}
  void begin_attempt(std::uint64_t allowance) {
    left_ -= spent_;
    spent_ = 0;
    attempt_ = allowance < left_ ? allowance : left_;
  }
  void spend(std::uint64_t steps) { spent_ = steps < attempt_ - spent_ ? spent_ + steps : attempt_; }
  bool exhausted() const { return spent_ == attempt_; }  // of this attempt, or of all
  bool all_spent() const { return spent_ == left_; }

 private:
  std::uint64_t left_;     // when the attempt began
  std::uint64_t attempt_;  // at most left_
  std::uint64_t spent_ = 0;
};

}  // namespace seccompress::verify
