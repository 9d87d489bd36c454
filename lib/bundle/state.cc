// SPDX-License-Identifier: Apache-2.0
// Input: the State JSON. Output: State. Entry point: parse_state.
#include "bundle/state.h"

#include <array>
#include <climits>

#include "bundle/annotations.h"
#include "read/json_cursor.h"

namespace seccompress::bundle {
namespace {

using read::json::Cursor;
using read::json::Kind;
using read::json::Value;

constexpr std::array<std::string_view, 4> kKeys = {"pid", "id", "bundle", "annotations"};

bool check_keys(Cursor& cursor, const Value& root) {
  bool fine = true;
  for (const std::string_view key : kKeys) fine = no_case_variants(cursor, root, key) && fine;
  return fine;
}

bool read_pid(Cursor& cursor, const Value& root, State& state) {
  const Value* value = cursor.require(root, "pid");
  if (value == nullptr) return false;
  const auto pid = cursor.integer(*value, INT_MAX);
  if (!pid) return false;
  state.pid = static_cast<pid_t>(*pid);
  return true;
}

bool read_text(Cursor& cursor, const Value& root, std::string_view key, std::string& text) {
  const Value* value = cursor.require(root, key);
  const std::string* found = value == nullptr ? nullptr : cursor.string(*value);
  if (found == nullptr) return false;
  text = *found;
  return true;
}

}  // namespace

Result<State> parse_state(std::string_view text, Diagnostics& diagnostics) {
  if (text.size() > kMaxStateBytes) {
    diagnostics.error("state-size", {.file = "state", .line = 0, .column = 0, .pointer = {}},
                      "the container state is larger than " + std::to_string(kMaxStateBytes) + " bytes");
    return reported();
  }
  TRY_ASSIGN(const read::json::Document document, read::json::parse(text, "state", diagnostics));
  Cursor cursor(document, diagnostics);
  const Value& root = document.root();
  State state;
  if (!cursor.expect(root, Kind::object) || !check_keys(cursor, root) || !read_pid(cursor, root, state) ||
      !read_text(cursor, root, "id", state.id) || !read_text(cursor, root, "bundle", state.bundle) ||
      !read_annotations(cursor, root, state.annotations))
    return reported();
  if (state.bundle.empty() || state.bundle.front() != '/' || state.bundle.find('\0') != std::string::npos) {
    cursor.error("state-bundle", *root.find("bundle"), "the bundle is not an absolute path");
    return reported();
  }
  return state;
}

}  // namespace seccompress::bundle
