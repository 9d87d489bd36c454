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
  if (error.code.category() == error_category()) return error.what;
  return error.what + ": " + error.code.message();
}

}  // namespace seccompress
