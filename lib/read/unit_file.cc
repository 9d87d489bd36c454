// SPDX-License-Identifier: Apache-2.0
// Input: the text of a unit file. Output: its assignments, in order. Entry point: parse.
//
// As systemd 252 reads it (src/shared/conf-parser.c, src/basic/fileio.c), each line checked against the real program:
//   * a line ends at LF, CR, a pair of both, or NUL
//   * # and ; begin comments at the start of a line, also between the lines of a continued one
//   * a backslash at the end that is not itself escaped joins the next line, with a space in its place
//   * a byte order mark is skipped once, wherever a line begins with it
//   * assignments before the first section and lines without '=' or key are skipped with a warning
#include "read/unit_file.h"

#include <algorithm>

namespace seccompress::read::unit {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
constexpr std::string_view kExecSections[] = {"Service", "Socket", "Mount", "Swap"};

bool ends_line(char c) { return c == '\n' || c == '\r' || c == '\0'; }

// Cuts the next line off `rest`. read_line() of src/basic/fileio.c: end characters of different kinds belong together,
// nothing follows a NUL.
std::string_view next_line(std::string_view& rest) {
  const auto end = std::find_if(rest.begin(), rest.end(), ends_line);
  const auto length = static_cast<std::size_t>(end - rest.begin());
  const std::string_view line = rest.substr(0, length);
  std::size_t at = length;
  std::string_view seen;
  while (at < rest.size() && ends_line(rest[at]) && seen.find(rest[at]) == std::string_view::npos) {
    ++at;
    seen = rest.substr(length, at - length);
    if (seen.back() == '\0') break;
  }
  rest.remove_prefix(at);
  return line;
}

bool ends_with_backslash(std::string_view line) {
  const auto last = line.find_last_not_of('\\');
  const std::size_t count = line.size() - (last == std::string_view::npos ? 0 : last + 1);
  return count % 2 == 1;
}

// A code point that systemd's unichar_is_valid() refuses although UTF-8 can write it.
bool is_refused(char32_t point) {
  return point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff) || (point >= 0xfdd0 && point <= 0xfdef) ||
         (point & 0xfffe) == 0xfffe;
}

std::size_t sequence_length(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

bool is_utf8(std::string_view text) {
  constexpr char32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  for (std::size_t at = 0; at < text.size();) {
    const auto first = static_cast<unsigned char>(text[at]);
    const std::size_t length = sequence_length(first);
    if (length == 0 || length > text.size() - at) return false;
    char32_t point = length == 1 ? first : first & (0x7fU >> length);
    for (std::size_t i = 1; i < length; ++i) {
      const auto next = static_cast<unsigned char>(text[at + i]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    if (point < kSmallest[length] || is_refused(point)) return false;
    at += length;
  }
  return true;
}

class Parser {
 public:
  Parser(const std::string& file, Diagnostics& diagnostics, const Visitor& visit)
      : file_(file), diagnostics_(diagnostics), visit_(visit) {}

  Result<void> run(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      TRY(take_line(next_line(text)));
    }
    return segments_.empty() ? Result<void>() : finish_line();
  }

 private:
  Result<void> take_line(std::string_view line) {
    if (line.size() >= kMaxLineBytes) return refuse({}, "a line is longer than 1 MiB");
    const auto first = line.find_first_not_of(kBlanks);
    if (first != std::string_view::npos && (line[first] == '#' || line[first] == ';')) return {};
    int column = 1;
    if (!mark_seen_ && line.starts_with(kByteOrderMark)) {
      mark_seen_ = true;
      column += static_cast<int>(kByteOrderMark.size());
      line.remove_prefix(kByteOrderMark.size());
    }
    if (joined_.size() + line.size() > kMaxLineBytes)
      return refuse({}, "continued lines are longer than 1 MiB together");
    segments_.push_back({joined_.size(), line_, column});
    joined_ += line;
    if (!ends_with_backslash(line)) return finish_line();
    joined_.back() = ' ';
    return {};
  }

  Result<void> finish_line() {
    auto done = take_text(strip(joined_));
    joined_.clear();
    segments_.clear();
    return done;
  }

  Result<void> take_text(std::string_view text) {
    if (text.empty()) return {};
    if (!is_utf8(text)) return refuse(text, "the line is not UTF-8");
    if (text.front() == '[') return take_section(text);
    if (section_.empty()) {
      if (section_skipped_) return {};
      return warn("unit-outside", text, "an assignment outside of any section is skipped");
    }
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return warn("unit-line", text, "a line without '=' is skipped");
    if (equals == 0) return warn("unit-line", text, "a line without a name before '=' is skipped");
    visit_(assignment(strip(text.substr(0, equals)), strip(text.substr(equals + 1))));
    return {};
  }

  Result<void> take_section(std::string_view text) {
    if (text.back() != ']') return refuse(text, "a section header without ']'");
    section_ = text.substr(1, text.size() - 2);
    section_skipped_ = section_.empty();
    return {};
  }

  Assignment assignment(std::string_view key, std::string_view value) const {
    return {section_, key, value, file_, joined_, segments_};
  }
  Location place(std::string_view text) const {
    if (text.empty()) return {.file = file_, .line = line_, .column = 1, .pointer = {}};
    return assignment(text, text).where();
  }
  Result<void> warn(std::string_view code, std::string_view text, std::string what) {
    diagnostics_.warning(code, place(text), std::move(what));
    return {};
  }
  tl::unexpected<Error> refuse(std::string_view text, std::string what) {
    diagnostics_.error("unit-syntax", place(text), std::move(what), "systemd does not load such a unit");
    return reported();
  }

  const std::string& file_;
  Diagnostics& diagnostics_;
  const Visitor& visit_;
  int line_ = 0;
  bool mark_seen_ = false;
  bool section_skipped_ = false;
  std::string section_;
  std::string joined_;  // of the lines so far, continuation backslashes as spaces
  std::vector<Assignment::Segment> segments_;
};

}  // namespace

std::string_view strip(std::string_view text) {
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return text.substr(0, 0);
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

Location Assignment::at(const char* part) const {
  const auto offset = static_cast<std::size_t>(part - text_.data());
  const auto after =
      std::upper_bound(segments_.begin(), segments_.end(), offset,
                       [](std::size_t wanted, const Segment& segment) { return wanted < segment.offset; });
  const Segment& segment = *(after - 1);
  return {.file = file_,
          .line = segment.line,
          .column = segment.column + static_cast<int>(offset - segment.offset),
          .pointer = {}};
}

Result<void> parse(std::string_view text, const std::string& file, Diagnostics& diagnostics, const Visitor& visit) {
  return Parser(file, diagnostics, visit).run(text);
}

bool is_exec_section(std::string_view section) {
  return std::find(std::begin(kExecSections), std::end(kExecSections), section) != std::end(kExecSections);
}

bool has_exec_section(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = strip(next_line(text));
    if (line.size() > 2 && line.front() == '[' && line.back() == ']' &&
        is_exec_section(line.substr(1, line.size() - 2)))
      return true;
  }
  return false;
}

}  // namespace seccompress::read::unit
