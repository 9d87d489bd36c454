// SPDX-License-Identifier: Apache-2.0
// Input: bytes. Output: a located tree (json::Document). Entry points: parse, then Cursor.
//
// Method: nlohmann's SAX parser does the grammar; it reads through an iterator that counts, and at each event
// the count is the end of that event's token. A token's start is the first byte after the previous token's
// end that is no blank, comma or colon. Numbers are the one token behind which the parser has looked one byte
// ahead, so their end is found by their own characters.
#include "read/json_cursor.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "read/reader.h"

namespace seccompress::read::json {
namespace {

class CountingIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator() = default;
  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}
  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_ = nullptr;
  const char** reached_ = nullptr;
};

struct Fault {
  std::size_t offset = 0;
  std::string_view code;
  std::string what;
  std::string hint;
};

constexpr bool is_between_tokens(char c) {
  return c == ' ' || c == '\n' || c == ',' || c == ':' || c == '\t' || c == '\r';
}
constexpr std::string_view kNumberBytes = "0123456789+-.eE";

std::string escape_pointer_token(std::string_view key) {
  std::string token;
  for (const char c : key) {
    if (c == '~')
      token += "~0";
    else if (c == '/')
      token += "~1";
    else if (static_cast<unsigned char>(c) >= ' ')
      token += c;
    else
      token += '?';  // a raw control character would reach the reader's terminal
  }
  return token;
}

std::string in_quotes(std::string_view key) { return '"' + escape_pointer_token(key) + '"'; }

// The second of two members with the same key; nullptr when all differ.
const Member* duplicate_key(const std::vector<Member>& members) {
  if (members.size() < 2) return nullptr;
  std::vector<const Member*> sorted;
  sorted.reserve(members.size());
  for (const Member& member : members) sorted.push_back(&member);
  std::stable_sort(sorted.begin(), sorted.end(), [](const Member* a, const Member* b) { return a->key < b->key; });
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end(),
                                        [](const Member* a, const Member* b) { return a->key == b->key; });
  return twice == sorted.end() ? nullptr : *std::next(twice);
}

// nlohmann's text without its own prefix: its line and column are ours already.
std::string grammar_message(std::string_view text) {
  if (const auto at = text.find("syntax error"); at != std::string_view::npos)
    text.remove_prefix(at);
  else if (const auto end = text.find("] "); end != std::string_view::npos)
    text.remove_prefix(end + 2);
  std::string message;
  for (const char c : text.substr(0, 160)) message += c >= ' ' && c != 0x7f ? c : '?';
  return message;
}

// nlohmann's SAX interface (its function names are its own).
class TreeBuilder {
 public:
  TreeBuilder(std::string_view text, const char** reached) : text_(text), reached_(reached) {}

  bool null() { return leaf(Kind::null, 0); }
  bool boolean(bool value) { return leaf(Kind::boolean, value ? 1 : 0); }
  bool number_integer(std::int64_t value) { return leaf(Kind::negative, static_cast<std::uint64_t>(value)); }
  bool number_unsigned(std::uint64_t value) { return leaf(Kind::integer, value); }
  bool number_float(double /*value*/, const std::string& written) { return leaf(Kind::real, 0, written); }
  bool string(std::string& value) { return leaf(Kind::string, 0, std::move(value)); }
  bool binary(std::vector<std::uint8_t>& /*value*/) { return false; }  // only other formats have it
  bool start_object(std::size_t /*size*/) { return open(Kind::object); }
  bool start_array(std::size_t /*size*/) { return open(Kind::array); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& value) {
    const std::uint32_t offset = begin_token();
    end_token();
    open_.back()->members.push_back({std::move(value), offset, {}});
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*last_token*/, const nlohmann::json::exception& fault) {
    fault_ = {position == 0 ? 0 : position - 1, "json-syntax", grammar_message(fault.what()), {}};
    if (fault_.what.find("UTF-8") != std::string::npos) fault_.code = "json-encoding";
    return false;
  }

  Value take_root() { return std::move(root_); }
  const Fault& fault() const { return fault_; }

 private:
  std::uint32_t begin_token() {
    token_start_ = token_end_;
    while (token_start_ < text_.size() && is_between_tokens(text_[token_start_])) ++token_start_;
    return static_cast<std::uint32_t>(token_start_);
  }
  void end_token() { token_end_ = static_cast<std::size_t>(*reached_ - text_.data()); }
  void end_number() {
    const std::size_t end = text_.find_first_not_of(kNumberBytes, token_start_);
    token_end_ = end == std::string_view::npos ? text_.size() : end;
  }

  bool refuse(std::size_t offset, std::string_view code, std::string what, std::string hint = {}) {
    fault_ = {offset, code, std::move(what), std::move(hint)};
    return false;
  }

  // The place where the value that begins now belongs; nullptr when there are too many.
  Value* place() {
    if (++values_ > kMaxValues) return nullptr;
    if (open_.empty()) return &root_;
    Value& parent = *open_.back();
    if (parent.kind == Kind::object) return &parent.members.back().value;
    parent.elements.emplace_back();
    return &parent.elements.back();
  }

  Value* begin_value(Kind kind) {
    const std::uint32_t offset = begin_token();
    Value* value = place();
    if (value == nullptr) {
      refuse(offset, "json-size", "more than " + std::to_string(kMaxValues) + " values in one document");
      return nullptr;
    }
    value->kind = kind;
    value->offset = offset;
    return value;
  }

  bool leaf(Kind kind, std::uint64_t integer, std::string text = {}) {
    Value* value = begin_value(kind);
    if (value == nullptr) return false;
    value->integer = integer;
    value->text = std::move(text);
    if (kind == Kind::integer || kind == Kind::negative || kind == Kind::real)
      end_number();
    else
      end_token();
    return true;
  }

  bool open(Kind kind) {
    Value* value = begin_value(kind);
    if (value == nullptr) return false;
    if (open_.size() == kMaxDepth)
      return refuse(value->offset, "json-depth", "nested deeper than " + std::to_string(kMaxDepth) + " levels");
    end_token();
    open_.push_back(value);
    return true;
  }

  bool close() {
    end_token();
    const Member* twice = duplicate_key(open_.back()->members);
    open_.pop_back();
    if (twice == nullptr) return true;
    return refuse(twice->offset, "json-duplicate-key", "key " + in_quotes(twice->key) + " occurs twice in one object",
                  "decoders disagree on which one counts; keep one");
  }

  std::string_view text_;
  const char** reached_;
  std::size_t token_start_ = 0;
  std::size_t token_end_ = 0;
  std::size_t values_ = 0;
  Value root_;
  // The containers that are not closed yet. Only the innermost one grows, so these pointers stay valid.
  std::vector<Value*> open_;
  Fault fault_;
};

// Faults that are clearer said before the grammar sees the bytes.
std::optional<Fault> refuse_encoding(std::string_view text) {
  if (text.size() > kMaxInputBytes)
    return Fault{0, "json-size", "larger than " + std::to_string(kMaxInputBytes) + " bytes", {}};
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Fault{0, "json-empty", "the input is empty", {}};
  if (text.starts_with("\xef\xbb\xbf"))
    return Fault{0, "json-encoding", "begins with a byte order mark", "save it as UTF-8 without one"};
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff") ||
      text.substr(0, 4).find('\0') != std::string_view::npos)
    return Fault{0, "json-encoding", "is not UTF-8 text (it looks like UTF-16, UTF-32 or binary)", "save it as UTF-8"};
  // nlohmann's lexer takes a zero byte for the end of the text and would not look at what follows it.
  if (const auto zero = text.find('\0'); zero != std::string_view::npos)
    return Fault{zero, "json-encoding", "has a zero byte", "save it as UTF-8 text"};
  return std::nullopt;
}

std::vector<std::uint32_t> find_line_starts(std::string_view text) {
  std::vector<std::uint32_t> starts{0};
  for (auto at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
    starts.push_back(static_cast<std::uint32_t>(at + 1));
  return starts;
}

// The child of `value` that holds the byte at `offset`: the last one that does not begin behind it.
template <class Children>
auto last_before(const Children& children, std::uint32_t offset) {
  return std::prev(std::upper_bound(children.begin(), children.end(), offset,
                                    [](std::uint32_t at, const auto& child) { return at < child.offset; }));
}

std::string pointer_of(const Value& root, std::uint32_t offset) {
  std::string pointer;
  const Value* value = &root;
  while (value->offset != offset) {
    if (!value->elements.empty() && value->elements.front().offset <= offset) {
      const auto child = last_before(value->elements, offset);
      pointer += '/' + std::to_string(child - value->elements.begin());
      value = &*child;
    } else if (!value->members.empty() && value->members.front().offset <= offset) {
      const auto child = last_before(value->members, offset);
      pointer += '/' + escape_pointer_token(child->key);
      if (offset < child->value.offset) break;  // the key itself
      value = &child->value;
    } else {
      break;
    }
  }
  return pointer;
}

}  // namespace

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::null: return "null";
    case Kind::boolean: return "a boolean";
    case Kind::integer: return "an integer";
    case Kind::negative: return "a negative integer";
    case Kind::real: return "a number that is no 64-bit integer";
    case Kind::string: return "a string";
    case Kind::array: return "an array";
    case Kind::object: return "an object";
  }
  return "?";
}

// Go's encoding/json folds with bytes.EqualFold: two non-ASCII characters fold to ASCII letters.
bool equal_ignoring_case(std::string_view a, std::string_view b) {
  const auto folded = [](std::string_view text) {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string_view rest = text.substr(i);
      if (rest.starts_with("\xc5\xbf")) {  // U+017F LATIN SMALL LETTER LONG S
        result += 's';
        ++i;
      } else if (rest.starts_with("\xe2\x84\xaa")) {  // U+212A KELVIN SIGN
        result += 'k';
        i += 2;
      } else {
        const char c = text[i];
        result += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      }
    }
    return result;
  };
  return folded(a) == folded(b);
}

const Value* Value::find(std::string_view key) const {
  for (const Member& member : members)
    if (member.key == key) return &member.value;
  return nullptr;
}

const Member* Value::case_variant_of(std::string_view key) const {
  for (const Member& member : members)
    if (member.key != key && equal_ignoring_case(member.key, key)) return &member;
  return nullptr;
}

Location Document::locate(std::uint32_t offset) const {
  const auto line = std::prev(std::upper_bound(line_starts_.begin(), line_starts_.end(), offset));
  return {file_, static_cast<int>(line - line_starts_.begin()) + 1, static_cast<int>(offset - *line) + 1,
          pointer_of(root_, offset)};
}

Result<Document> parse(std::string_view text, std::string file, Diagnostics& diagnostics) {
  Document document;
  document.file_ = std::move(file);
  std::optional<Fault> fault = refuse_encoding(text);
  if (!fault) {
    document.line_starts_ = find_line_starts(text);
    const char* reached = text.data();
    TreeBuilder builder(text, &reached);
    const char* end = text.data() + text.size();
    if (!nlohmann::json::sax_parse(CountingIterator(text.data(), &reached), CountingIterator(end, &reached), &builder))
      fault = builder.fault();
    document.root_ = builder.take_root();
  }
  if (!fault) return document;
  if (document.line_starts_.empty()) document.line_starts_ = find_line_starts(text.substr(0, fault->offset));
  Location where = document.locate(static_cast<std::uint32_t>(std::min(fault->offset, text.size())));
  if (fault->code != "json-duplicate-key") where.pointer.clear();  // the tree is not complete
  diagnostics.error(fault->code, std::move(where), std::move(fault->what), std::move(fault->hint));
  return reported();
}

bool Cursor::expect(const Value& value, Kind kind) {
  if (value.kind == kind) return true;
  error("json-type", value,
        "expected " + std::string(to_string(kind)) + ", found " + std::string(to_string(value.kind)));
  return false;
}

const std::string* Cursor::string(const Value& value) { return expect(value, Kind::string) ? &value.text : nullptr; }

std::optional<bool> Cursor::boolean(const Value& value) {
  if (!expect(value, Kind::boolean)) return std::nullopt;
  return value.integer != 0;
}

std::optional<std::uint64_t> Cursor::integer(const Value& value, std::uint64_t max) {
  if (!expect(value, Kind::integer)) return std::nullopt;
  if (value.integer <= max) return value.integer;
  error("json-range", value, std::to_string(value.integer) + " is too large", "at most " + std::to_string(max));
  return std::nullopt;
}

const std::vector<Value>* Cursor::list(const Value& value) {
  if (value.kind == Kind::null) return &value.elements;
  return expect(value, Kind::array) ? &value.elements : nullptr;
}

std::optional<std::vector<std::string>> Cursor::strings(const Value& value) {
  const std::vector<Value>* elements = list(value);
  if (elements == nullptr) return std::nullopt;
  std::vector<std::string> all;
  all.reserve(elements->size());
  for (const Value& element : *elements) {
    const std::string* one = string(element);
    if (one == nullptr) return std::nullopt;
    all.push_back(*one);
  }
  return all;
}

const Value* Cursor::require(const Value& object, std::string_view key) {
  const Value* value = object.find(key);
  if (value != nullptr) return value;
  const Member* variant = object.case_variant_of(key);
  error("json-missing", object, "\"" + std::string(key) + "\" is missing",
        variant == nullptr ? std::string() : "keys are case-sensitive: found " + in_quotes(variant->key));
  return nullptr;
}

void Cursor::check_keys(const Value& object, std::initializer_list<std::string_view> known) {
  for (const Member& member : object.members) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    const auto* near = std::find_if(known.begin(), known.end(),
                                    [&](std::string_view key) { return equal_ignoring_case(key, member.key); });
    if (near == known.end())
      diagnostics_.warning("unknown-key", document_.locate(member),
                           "unknown key " + in_quotes(member.key) + " is ignored");
    else
      diagnostics_.error("key-case", document_.locate(member),
                         "key " + in_quotes(member.key) + " means something to runc and nothing to crun",
                         "write " + in_quotes(*near));
  }
}

void Cursor::error(std::string_view code, const Value& where, std::string what, std::string hint) {
  diagnostics_.error(code, document_.locate(where), std::move(what), std::move(hint));
}

void Cursor::warning(std::string_view code, const Value& where, std::string what, std::string hint) {
  diagnostics_.warning(code, document_.locate(where), std::move(what), std::move(hint));
}

}  // namespace seccompress::read::json
