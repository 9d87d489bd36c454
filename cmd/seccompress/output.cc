// SPDX-License-Identifier: Apache-2.0
#include "output.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "command.h"

namespace seccompress::cmd {
namespace {

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

std::string padded(const std::string& cell, std::size_t width, bool left) {
  const std::string fill(width - std::min(width, cell.size()), ' ');
  return left ? cell + fill : fill + cell;
}

std::vector<std::size_t> widths(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widest;
  for (const auto& row : rows) {
    widest.resize(std::max(widest.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widest[i] = std::max(widest[i], row[i].size());
  }
  return widest;
}

}  // namespace

bool stdout_is_terminal() { return ::isatty(STDOUT_FILENO) == 1; }

std::string styled(std::string_view text, Style style) {
  static const bool colour = stdout_is_terminal() && std::getenv("NO_COLOR") == nullptr;
  if (!colour || style == Style::plain) return std::string(text);
  const char* code = style == Style::good ? "\033[32m" : style == Style::bad ? "\033[31m" : "\033[1m";
  return code + std::string(text) + "\033[0m";
}

int print(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return kOk;
  complain(
      {Severity::error, "output", {}, std::string("cannot write to standard output: ") + std::strerror(errno), {}});
  return kFailed;
}

int print_json(const nlohmann::ordered_json& value) {
  // File names may hold any bytes; JSON text may not.
  return print(value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
}

void complain(const Diagnostic& diagnostic) {
  std::string text = to_string(diagnostic);
  // File names may hold anything; a terminal shall not get it.
  for (char& byte : text)
    if (static_cast<unsigned char>(byte) < ' ' || byte == '\x7f') byte = '?';
  write_all(STDERR_FILENO, text + '\n');
}

std::string Table::text() const {
  const std::vector<std::size_t> widest = widths(rows_);
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool left = i == 0 || text_ == Text::all || (text_ == Text::first_and_last && i + 1 == widest.size());
      line += (i > 0 ? "  " : "") + padded(row[i], widest[i], left);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string grouped(std::size_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::string counted(std::size_t number, std::string_view noun) {
  return grouped(number) + ' ' + std::string(noun) + (number == 1 ? "" : "s");
}

}  // namespace seccompress::cmd
