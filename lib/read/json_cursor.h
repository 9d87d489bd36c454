// SPDX-License-Identifier: Apache-2.0
// JSON with places: text -> a located tree, and typed access that reports its own faults. Every JSON reader
// (profiles, config.json) uses this one, so limits and messages are the same everywhere.
//
// parse() refuses, with one located message: more than kMaxInputBytes, more than kMaxDepth levels, more than
// kMaxValues values, duplicate keys in an object, invalid UTF-8, UTF-16 and byte order marks, comments,
// anything after the value. Integers are kept as 64-bit integers, never as doubles; numbers that are not
// 64-bit integers keep their text and are refused where an integer is asked for.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::read::json {

inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxValues = std::size_t{1} << 18;  // bounds the tree: about 100 bytes a value

// integer: 0 .. 2^64-1; negative: below 0; real: everything else that JSON calls a number.
enum class Kind : std::uint8_t { null, boolean, integer, negative, real, string, array, object };
std::string_view to_string(Kind kind);  // "a string", "an object", ...

struct Member;

struct Value {
  Kind kind = Kind::null;
  std::uint32_t offset = 0;   // of its first byte in the text
  std::uint64_t integer = 0;  // integer; boolean (0, 1); negative: the two's complement of its int64
  std::string text;           // string: decoded; real: as written
  std::vector<Value> elements;
  std::vector<Member> members;  // in the order of the text

  // The member's value; nullptr when absent or when this is no object.
  const Value* find(std::string_view key) const;
  // A member whose key is not `key` but equals it for a decoder that ignores case, as Go's encoding/json does
  // (ASCII case, and the long s U+017F and the Kelvin sign U+212A); nullptr when there is none. Such a key
  // means different things to different runtimes.
  const Member* case_variant_of(std::string_view key) const;
};

struct Member {
  std::string key;
  std::uint32_t offset = 0;  // of the key
  Value value;
};

// Are the two keys the same to a case-insensitive decoder?
bool equal_ignoring_case(std::string_view a, std::string_view b);

// A parsed text. Values are found again by their offset, so a Document may be moved.
class Document {
 public:
  const Value& root() const { return root_; }
  const std::string& file() const { return file_; }
  Location locate(const Value& value) const { return locate(value.offset); }
  Location locate(const Member& member) const { return locate(member.offset); }
  // line and column of a byte, and the JSON pointer of the innermost value (or key) that begins at it.
  Location locate(std::uint32_t offset) const;

 private:
  friend Result<Document> parse(std::string_view text, std::string file, Diagnostics& diagnostics);
  std::string file_;
  std::vector<std::uint32_t> line_starts_;
  Value root_;
};

// Errors: Errc::reported (exactly one diagnostic).
Result<Document> parse(std::string_view text, std::string file, Diagnostics& diagnostics);

// Access with expectations. Every function that returns nullptr, nullopt or false has reported why, at the
// value's place. Both referents outlive the cursor.
class Cursor {
 public:
  Cursor(const Document& document, Diagnostics& diagnostics) : document_(document), diagnostics_(diagnostics) {}

  const Document& document() const { return document_; }
  Diagnostics& diagnostics() { return diagnostics_; }

  bool expect(const Value& value, Kind kind);  // reports "expected an array, found a string"
  const std::string* string(const Value& value);
  std::optional<bool> boolean(const Value& value);
  std::optional<std::uint64_t> integer(const Value& value, std::uint64_t max = UINT64_MAX);
  // Elements, all strings; null counts as an empty list (Go writes null for an empty slice).
  std::optional<std::vector<std::string>> strings(const Value& value);
  // Elements; null counts as an empty list.
  const std::vector<Value>* list(const Value& value);

  // A member that must be there; reports at the object.
  const Value* require(const Value& object, std::string_view key);
  // Reports every member whose key is not in `known`: a warning ("unknown-key"), but an error ("key-case") when
  // only the case differs from a known one, because runtimes then disagree on what the file says.
  void check_keys(const Value& object, std::initializer_list<std::string_view> known);

  void error(std::string_view code, const Value& where, std::string what, std::string hint = {});
  void warning(std::string_view code, const Value& where, std::string what, std::string hint = {});

 private:
  const Document& document_;
  Diagnostics& diagnostics_;
};

}  // namespace seccompress::read::json
