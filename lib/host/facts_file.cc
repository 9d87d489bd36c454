// SPDX-License-Identifier: Apache-2.0
// Input: the text of a facts file. Output: FactsFile. Entry points: parse_facts, to_json.
#include "host/facts_file.h"

#include <algorithm>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "read/json_cursor.h"

namespace seccompress::host {
namespace {

using read::json::Cursor;
using read::json::Kind;
using read::json::Value;

constexpr std::uint64_t kMaxVersion = 9999;

void only_keys(Cursor& cursor, const Value& object, std::initializer_list<std::string_view> known) {
  for (const read::json::Member& member : object.members)
    if (std::find(known.begin(), known.end(), member.key) == known.end())
      cursor.error("facts", member.value, "unknown key \"" + member.key + '"',
                   "a file of host facts is what --json prints under \"host\"");
}

void take_text(Cursor& cursor, const Value& object, std::string_view key, std::string& target) {
  const Value* const value = cursor.require(object, key);
  const std::string* const text = value == nullptr ? nullptr : cursor.string(*value);
  if (text != nullptr) target = *text;
}

std::vector<std::string> texts_of(Cursor& cursor, const Value& object, std::string_view key) {
  const Value* const value = cursor.require(object, key);
  if (value == nullptr || !cursor.expect(*value, Kind::array)) return {};
  return cursor.strings(*value).value_or(std::vector<std::string>());
}

void take_systemd(Cursor& cursor, const Value& object, std::optional<SystemdChoice>& target) {
  const std::size_t earlier = cursor.diagnostics().error_count();
  const Value* const systemd = cursor.require(object, "systemd");
  if (systemd == nullptr || systemd->kind == Kind::null || !cursor.expect(*systemd, Kind::object)) return;
  only_keys(cursor, *systemd, {"version", "from", "groups_differ"});
  SystemdChoice choice;
  take_text(cursor, *systemd, "from", choice.from);
  const Value* const version = cursor.require(*systemd, "version");
  const auto number = version == nullptr ? std::nullopt : cursor.integer(*version, kMaxVersion);
  const std::vector<std::string> lines = texts_of(cursor, *systemd, "groups_differ");
  if (cursor.diagnostics().error_count() > earlier) return;
  auto facts = with_differences(static_cast<unsigned>(*number), lines);
  if (!facts) return cursor.error("facts", *systemd->find("groups_differ"), facts.error().what);
  choice.facts = std::move(*facts);
  target = std::move(choice);
}

}  // namespace

Result<FactsFile> parse_facts(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  const std::size_t earlier = diagnostics.error_count();
  TRY_ASSIGN(const read::json::Document document, read::json::parse(text, file, diagnostics));
  Cursor cursor(document, diagnostics);
  const Value* const inner = document.root().find("host");
  const Value& object = inner == nullptr ? document.root() : *inner;
  if (!cursor.expect(object, Kind::object)) return reported();
  only_keys(cursor, object, {"arch", "kernel", "caps", "systemd", "weights", "libseccomp"});
  FactsFile facts;
  take_text(cursor, object, "arch", facts.arch);
  take_text(cursor, object, "kernel", facts.kernel);
  take_text(cursor, object, "weights", facts.weights);
  const std::vector<std::string> caps = texts_of(cursor, object, "caps");
  facts.caps = {caps.begin(), caps.end()};
  take_systemd(cursor, object, facts.systemd);
  if (diagnostics.error_count() > earlier) return reported();
  return facts;
}

nlohmann::ordered_json to_json(const std::optional<SystemdChoice>& systemd) {
  if (!systemd) return nullptr;
  return {{"version", systemd->facts.version}, {"from", systemd->from}, {"groups_differ", differences(systemd->facts)}};
}

}  // namespace seccompress::host
