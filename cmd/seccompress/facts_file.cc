// SPDX-License-Identifier: Apache-2.0
#include "facts_file.h"

#include <nlohmann/json.hpp>

#include "support/file.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kMaxBytes = std::size_t{4} << 20;

tl::unexpected<Error> malformed(const std::string& path, const std::string& what) {
  return failure(Errc::malformed, path + ": " + what + "; --host-facts takes what --json prints under \"host\"");
}

Result<std::string> text_of(const std::string& path, const Json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_string()) return malformed(path, "no text \"" + key + "\"");
  return found->get<std::string>();
}

Result<std::vector<std::string>> texts_of(const std::string& path, const Json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return malformed(path, "no list \"" + key + "\"");
  std::vector<std::string> texts;
  for (const Json& element : *found) {
    if (!element.is_string()) return malformed(path, "\"" + key + "\" holds something that is no text");
    texts.push_back(element.get<std::string>());
  }
  return texts;
}

Result<std::optional<SystemdChoice>> systemd_of(const std::string& path, const Json& object) {
  const auto systemd = object.find("systemd");
  if (systemd == object.end() || systemd->is_null()) return std::nullopt;
  const auto version = systemd->is_object() ? systemd->find("version") : systemd->end();
  if (!systemd->is_object() || version == systemd->end() || !version->is_number_unsigned() ||
      version->get<std::uint64_t>() > 9999)
    return malformed(path, "\"systemd\" has no version");
  TRY_ASSIGN(std::string from, text_of(path, *systemd, "from"));
  TRY_ASSIGN(const std::vector<std::string> lines, texts_of(path, *systemd, "groups_differ"));
  auto facts = host::with_differences(version->get<unsigned>(), lines);
  if (!facts) return failure(facts.error().code, path + ": " + facts.error().what);
  return SystemdChoice{std::move(from), std::move(*facts)};
}

}  // namespace

Result<FactsFile> read_facts_file(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path, kMaxBytes));
  const Json root = Json::parse(text, nullptr, false);
  if (!root.is_object()) return malformed(path, "no JSON object");
  const auto inner = root.find("host");
  const Json& object = inner != root.end() && inner->is_object() ? *inner : root;
  FactsFile facts;
  TRY_ASSIGN(facts.arch, text_of(path, object, "arch"));
  TRY_ASSIGN(facts.kernel, text_of(path, object, "kernel"));
  TRY_ASSIGN(facts.weights, text_of(path, object, "weights"));
  TRY_ASSIGN(const std::vector<std::string> caps, texts_of(path, object, "caps"));
  facts.caps = {caps.begin(), caps.end()};
  TRY_ASSIGN(facts.systemd, systemd_of(path, object));
  return facts;
}

Json to_json(const std::optional<SystemdChoice>& systemd) {
  if (!systemd) return nullptr;
  return {{"version", systemd->facts.version},
          {"from", systemd->from},
          {"groups_differ", host::differences(systemd->facts)}};
}

}  // namespace seccompress::cmd
