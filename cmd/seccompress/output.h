// SPDX-License-Identifier: Apache-2.0
// What a person or a program sees: stdout, stderr, colour, tables, JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostic.h"

namespace seccompress::cmd {

enum class Style : char { plain, good, bad, strong };

bool stdout_is_terminal();
// The text in colour when stdout is a terminal and NO_COLOR is not set.
std::string styled(std::string_view text, Style style);

// All of it to stdout. The result is an exit code: 2 when it could not be written (explained on stderr).
int print(std::string_view text);
int print_json(const nlohmann::ordered_json& value);

// One diagnostic to stderr.
void complain(const Diagnostic& diagnostic);

// Rows of cells in columns; the first column is flush left, all others flush right, except that cells of the
// last column are flush left when `last_is_text`, or of all columns when Text::all. The first row is the header.
class Table {
 public:
  enum class Text : char { first, first_and_last, all };
  explicit Table(bool last_is_text = false) : text_(last_is_text ? Text::first_and_last : Text::first) {}
  explicit Table(Text text) : text_(text) {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  Text text_;
  std::vector<std::vector<std::string>> rows_;
};

// 12345678 -> "12,345,678"
std::string grouped(std::size_t number);
// "1 filter", "34 filters"
std::string counted(std::size_t number, std::string_view noun);

}  // namespace seccompress::cmd
