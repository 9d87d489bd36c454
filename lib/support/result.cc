// SPDX-License-Identifier: Apache-2.0
#include "support/result.h"

namespace seccompress {
namespace {

class Category final : public std::error_category {
 public:
  const char* name() const noexcept override { return "seccompress"; }
  std::string message(int value) const override {
    switch (static_cast<Errc>(value)) {
      case Errc::reported: return "reported";
      case Errc::budget: return "limit reached";
      case Errc::inexact: return "not expressible exactly";
      case Errc::malformed: return "malformed";
      case Errc::refused: return "refused";
    }
    return "unknown";
  }
};

}  // namespace

const std::error_category& error_category() {
  static const Category category;
  return category;
}

std::string to_string(const Error& error) {
  if (error.code.category() == error_category()) return without_middle(error.what);
  return without_middle(error.what) + ": " + error.code.message();
}

std::string without_middle(std::string text) {
  constexpr std::size_t kBegin = 3000, kEnd = 1000;
  if (text.size() <= kBegin + kEnd + 64) return text;
  const auto inside_a_character = [&](std::size_t at) {
    return (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80U;
  };
  std::size_t begin = kBegin, end = text.size() - kEnd;
  while (begin > kBegin - 4 && inside_a_character(begin)) --begin;
  while (end < text.size() - kEnd + 4 && inside_a_character(end)) ++end;
  return text.substr(0, begin) + " [" + std::to_string(end - begin) + " bytes left out] " + text.substr(end);
}

}  // namespace seccompress
