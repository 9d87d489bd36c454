// SPDX-License-Identifier: Apache-2.0
// The values of unit files: words, truth, error numbers (systemd 252, src/basic/extract-word.c and parse-util.c).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace seccompress::read::unit {

// Splits at blanks. A backslash takes the next character as it is; with `unquote`, so do quotes with what is between.
class Words {
 public:
  enum class Quotes { kept, removed };
  Words(std::string_view text, Quotes quotes) : rest_(text), quotes_(quotes) {}

  enum class Step { word, end, broken };  // broken: a quote or a backslash without its end
  Step next();
  const std::string& word() const { return word_; }
  const char* begin() const { return begin_; }  // of the word, in the text

 private:
  std::string_view rest_;
  Quotes quotes_;
  std::string word_;
  const char* begin_ = nullptr;
};

std::optional<bool> parse_boolean(std::string_view text);
// 0..4095, by name or number in any base that C and systemd know.
std::optional<int> parse_errno(const std::string& text);

}  // namespace seccompress::read::unit
