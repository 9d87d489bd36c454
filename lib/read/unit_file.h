// SPDX-License-Identifier: Apache-2.0
// The text of a systemd unit file as assignments with their places (systemd 252, src/shared/conf-parser.c).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::read::unit {

// systemd's LONG_LINE_MAX, for a line and for what continuations join; longer ones keep a unit from loading.
inline constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;

// One assignment. Valid only while the visitor runs.
class Assignment {
 public:
  // Where each line of a continued assignment begins in the joined text.
  struct Segment {
    std::size_t offset;
    int line, column;
  };
  Assignment(std::string_view in_section, std::string_view name, std::string_view assigned, const std::string& file,
             std::string_view text, std::span<const Segment> segments)
      : section(in_section), key(name), value(assigned), file_(file), text_(text), segments_(segments) {}

  Location where() const { return at(key.data()); }
  // The place of `part`, which points into key or value.
  Location at(const char* part) const;

  std::string_view section, key, value;

 private:
  const std::string& file_;
  std::string_view text_;
  std::span<const Segment> segments_;
};
using Visitor = std::function<void(const Assignment&)>;

// Visits the assignments of all sections in order. Errors are what keeps systemd from loading the file: section headers
// without an end, text that is not UTF-8, overlong lines. Lines that systemd skips are warnings.
Result<void> parse(std::string_view text, const std::string& file, Diagnostics& diagnostics, const Visitor& visit);

std::string_view strip(std::string_view text);  // without spaces, tabs, CR and LF at both ends

// Does some line open a section that can restrict system calls: [Service], [Socket], [Mount], [Swap]?
bool has_exec_section(std::string_view text);
bool is_exec_section(std::string_view section);

}  // namespace seccompress::read::unit
