// SPDX-License-Identifier: Apache-2.0
// Programs that were composed and proved before, found by what they were made of: the folder `merged` in the receipts'
// folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "receipt/receipt.h"

namespace seccompress::receipt {

inline constexpr std::size_t kMaxKeptPrograms = 64;
inline constexpr std::size_t kMaxKeptBytes = std::size_t{2} << 20;

struct FoundProgram {
  enum class State {
    hit,
    miss,
    bad,  // an entry of that name that cannot be believed: `why`; the next keep() takes it away
    off,  // no folder of receipts (`why` is empty), or none that can be believed
  };
  State state = State::off;
  std::string why;
  std::optional<Receipt> receipt;  // of a hit; its inputs are the ones asked for
};

class Programs {
 public:
  explicit Programs(std::string receipts) : receipts_(std::move(receipts)) {}

  // Changes nothing and waits for nobody.
  FoundProgram find(std::string_view inputs) const;
  // Keeps an entry and removes the oldest above the bounds. The receipts' folder has to be there: making it is the
  // administrator's word that programs may be kept. false: somebody else is writing, nothing was done.
  Result<bool> keep(std::string_view inputs, std::string_view about, program::CodeView code) const;

 private:
  std::string receipts_;
};

}  // namespace seccompress::receipt
