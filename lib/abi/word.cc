// SPDX-License-Identifier: Apache-2.0
#include "abi/word.h"

namespace seccompress::abi {

std::string word_name(Word word) {
  if (word == kNr) return "nr";
  if (word == kArch) return "arch";
  const std::string half = word % 2 == 0 ? ".lo" : ".hi";
  if (word < kArgs) return "ip" + half;
  return "a" + std::to_string((word - kArgs) / 2) + half;
}

}  // namespace seccompress::abi
