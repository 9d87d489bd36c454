// SPDX-License-Identifier: Apache-2.0
// Located messages for the person who wrote the input. Readers and lower add as many as they find and
// then return reported(); nothing in the library prints.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace seccompress {

// A place in an input. line and column count from 1 (columns in bytes); 0 = the input as a whole.
struct Location {
  std::string file;
  int line = 0;
  int column = 0;
  std::string pointer;  // RFC 6901 JSON pointer ("/syscalls/3/args/0/op"), empty when not JSON
};

enum class Severity { error, warning, note };

struct Diagnostic {
  Severity severity;
  std::string_view code;  // stable kebab-case id, a string literal: "json-duplicate-key", "unknown-syscall"
  Location where;
  std::string what;
  std::string hint;  // what to do about it; may be empty
};

// "file:line:col: error: what (at /json/pointer); hint"
std::string to_string(const Diagnostic& diagnostic);
std::string_view to_string(Severity severity);

class Diagnostics {
 public:
  // More than this many are counted, not kept: a hostile 4 MiB profile must not become a 400 MiB report. Errors
  // count by themselves, so that no number of warnings hides why there is no answer.
  static constexpr std::size_t kLimit = 1000;

  void add(Diagnostic diagnostic);
  void error(std::string_view code, Location where, std::string what, std::string hint = {});
  void warning(std::string_view code, Location where, std::string what, std::string hint = {});

  bool has_errors() const { return errors_ > 0; }
  std::size_t error_count() const { return errors_; }  // dropped ones included
  std::size_t dropped() const { return dropped_; }
  std::span<const Diagnostic> all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
  std::size_t errors_ = 0;
  std::size_t others_ = 0;
  std::size_t dropped_ = 0;
};

}  // namespace seccompress
