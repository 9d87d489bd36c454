// SPDX-License-Identifier: Apache-2.0
#include "read/unit_words.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <iterator>

#include "abi/verdict.h"

namespace seccompress::read::unit {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kTrue[] = {"1", "yes", "y", "true", "t", "on"};
constexpr std::string_view kFalse[] = {"0", "no", "n", "false", "f", "off"};

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// safe_atoi(): what strtol takes in base 0, and 0b and 0o.
std::optional<int> parse_integer(const std::string& text) {
  if (text.size() > 64) return std::nullopt;
  const char* digits = text.c_str() + std::min(text.find_first_not_of(kBlanks), text.size());
  int base = 0;
  if (std::string_view(digits).starts_with("0b")) base = 2;
  if (std::string_view(digits).starts_with("0o")) base = 8;
  if (base != 0) digits += 2;
  char* end = nullptr;
  errno = 0;
  const long value = std::strtol(digits, &end, base);
  if (errno != 0 || end == digits || *end != '\0' || value < INT32_MIN || value > INT32_MAX) return std::nullopt;
  return static_cast<int>(value);
}

}  // namespace

Words::Step Words::next() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
  if (rest_.empty()) return Step::end;
  begin_ = rest_.data();
  word_.clear();
  char quote = '\0';
  std::size_t at = 0;
  for (; at < rest_.size(); ++at) {
    const char c = rest_[at];
    if (c == '\\') {
      if (++at == rest_.size()) return Step::broken;
      word_ += rest_[at];
    } else if (quote != '\0') {
      if (c == quote)
        quote = '\0';
      else
        word_ += c;
    } else if ((c == '"' || c == '\'') && quotes_ == Quotes::removed) {
      quote = c;
    } else if (kBlanks.find(c) != std::string_view::npos) {
      break;
    } else {
      word_ += c;
    }
  }
  rest_.remove_prefix(at);
  return quote == '\0' ? Step::word : Step::broken;
}

std::optional<bool> parse_boolean(std::string_view text) {
  if (text.size() > 5) return std::nullopt;
  const std::string value = lower(text);
  if (std::find(std::begin(kTrue), std::end(kTrue), value) != std::end(kTrue)) return true;
  if (std::find(std::begin(kFalse), std::end(kFalse), value) != std::end(kFalse)) return false;
  return std::nullopt;
}

std::optional<int> parse_errno(const std::string& text) {
  if (const auto number = abi::errno_from_name(text)) return number;
  const auto number = parse_integer(text);
  if (!number || *number < 0 || *number > 4095) return std::nullopt;
  return number;
}

}  // namespace seccompress::read::unit
