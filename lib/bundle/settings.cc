// SPDX-License-Identifier: Apache-2.0
// Input: the text of config.yaml. Output: Settings. Entry point: parse_settings.
// Method: yaml_guard first, then a tree by yaml-cpp, then one function per key from a table. yaml-cpp throws; what
// it throws is caught in parse_settings.
#include "bundle/settings.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <functional>
#include <optional>
#include <set>

#include "bundle/yaml_guard.h"
#include "read/reader.h"

namespace seccompress::bundle {
namespace {

constexpr std::size_t kMaxYamlNodes = 10'000;
constexpr std::chrono::milliseconds kMinTimeout{100}, kMaxTimeout{std::chrono::minutes(10)};

class Reader {
 public:
  Reader(std::string file, Diagnostics& diagnostics) : file_(std::move(file)), diagnostics_(diagnostics) {}

  using Fill = std::function<void(const YAML::Node&)>;
  struct Key {
    std::string_view name;
    Fill fill;
  };

  void error(const YAML::Node& node, std::string what, std::string hint = {}) {
    const YAML::Mark mark = node.Mark();
    diagnostics_.error("settings", {.file = file_, .line = mark.line + 1, .column = mark.column + 1, .pointer = {}},
                       std::move(what), std::move(hint));
  }

  void map(const YAML::Node& node, const std::string& name, const std::vector<Key>& keys) {
    if (!node.IsMap()) return error(node, name + " is not a mapping");
    std::set<std::string> seen;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) {
        error(member.first, "a key is not a plain word");
        continue;
      }
      const std::string& key = member.first.Scalar();
      const auto known = std::find_if(keys.begin(), keys.end(), [&](const Key& k) { return k.name == key; });
      if (known == keys.end())
        error(member.first, "unknown key '" + key + "' in " + name, "known: " + names(keys));
      else if (!seen.insert(key).second)
        error(member.first, "the key '" + key + "' is there twice");
      else
        known->fill(member.second);
    }
  }

  std::optional<std::string> text(const YAML::Node& node, const std::string& name) {
    if (node.IsScalar() && !node.Scalar().empty()) return node.Scalar();
    error(node, name + " is not a text");
    return std::nullopt;
  }

  std::vector<std::string> texts(const YAML::Node& node, const std::string& name) {
    std::vector<std::string> all;
    if (!node.IsSequence()) {
      error(node, name + " is not a list");
      return all;
    }
    if (node.size() > kMaxLayers) {
      error(node, name + " has more than " + std::to_string(kMaxLayers) + " entries");
      return all;
    }
    for (const YAML::Node& element : node)
      if (auto value = text(element, "an entry of " + name)) all.push_back(std::move(*value));
    return all;
  }

  // Layers as read::parse_layer_spec takes them, from places that do not depend on where a hook is started.
  std::vector<std::string> layers(const YAML::Node& node, const std::string& name) {
    std::vector<std::string> all = texts(node, name);
    if (!node.IsSequence() || all.size() != node.size()) return all;
    for (std::size_t i = 0; i < all.size(); ++i)
      if (const std::string fault = layer_fault(all[i]); !fault.empty()) error(node[i], "'" + all[i] + "': " + fault);
    return all;
  }

  std::string absolute_path(const YAML::Node& node, const std::string& name) {
    const auto value = text(node, name);
    if (value && value->front() == '/') return *value;
    if (value) error(node, name + " is not an absolute path");
    return {};
  }

  // Of a file that is read under the ownership rules, at each start.
  std::string trusted_path(const YAML::Node& node, const std::string& name) {
    const auto value = text(node, name);
    const std::string fault = value ? path_fault(*value) : std::string();
    if (!fault.empty()) error(node, name + " is '" + *value + "': " + fault);
    return value.value_or("");
  }

  template <class T>
  void choice(const YAML::Node& node, const std::string& name, T& target,
              const std::vector<std::pair<std::string_view, T>>& choices) {
    const auto value = text(node, name);
    if (!value) return;
    std::string known;
    for (const auto& [word, meaning] : choices) {
      if (word == *value) {
        target = meaning;
        return;
      }
      known += (known.empty() ? "" : " or ") + std::string(word);
    }
    error(node, name + " is '" + *value + "'", "it must be " + known);
  }

 private:
  static std::string layer_fault(const std::string& text) {
    const auto spec = read::parse_layer_spec(text);
    if (!spec) return spec.error().what;
    if (spec->kind == "pid") return "a live process is no layer that lasts";
    if (spec->kind == "unit") return {};
    return path_fault(spec->location);
  }

  static std::string path_fault(const std::string& text) {
    if (!text.starts_with('/')) return "not an absolute path";
    const std::string path = text + '/';
    if (path.find("/../") != std::string::npos || path.find("/./") != std::string::npos)
      return "a path with a '.' or '..' in it";
    return {};
  }

  static std::string names(const std::vector<Key>& keys) {
    std::string all;
    for (const Key& key : keys) all += (all.empty() ? "" : ", ") + std::string(key.name);
    return all;
  }

  std::string file_;
  Diagnostics& diagnostics_;
};

void read_selection(Reader& reader, const YAML::Node& node, Settings& settings) {
  Selection selection;
  reader.map(node, "an entry of apply.select",
             {{"annotation",
               [&](const YAML::Node& value) {
                 const auto text = reader.text(value, "annotation");
                 if (!text) return;
                 const std::size_t equals = text->find('=');
                 if (equals == std::string::npos || equals == 0)
                   return reader.error(value, "annotation is not KEY=VALUE");
                 selection.key = text->substr(0, equals);
                 selection.value = text->substr(equals + 1);
               }},
              {"layers", [&](const YAML::Node& value) { selection.layers = reader.layers(value, "layers"); }}});
  if (selection.key.empty() || selection.layers.empty())
    return reader.error(node, "an entry of apply.select needs an annotation and layers");
  settings.selections.push_back(std::move(selection));
}

void read_apply(Reader& reader, const YAML::Node& node, Settings& settings) {
  reader.map(node, "apply",
             {{"unconfined",
               [&](const YAML::Node& value) {
                 reader.choice<Unconfined>(value, "apply.unconfined", settings.unconfined,
                                           {{"apply", Unconfined::apply}, {"skip", Unconfined::skip}});
               }},
              {"select", [&](const YAML::Node& value) {
                 if (!value.IsSequence()) return reader.error(value, "apply.select is not a list");
                 for (const YAML::Node& entry : value) read_selection(reader, entry, settings);
               }}});
}

void read_runtimes(Reader& reader, const YAML::Node& node, Settings& settings) {
  reader.map(node, "runtimes",
             {{"default",
               [&](const YAML::Node& value) {
                 if (auto text = reader.text(value, "runtimes.default")) settings.default_runtime = std::move(*text);
               }},
              {"allowed", [&](const YAML::Node& value) {
                 if (!value.IsSequence()) return reader.error(value, "runtimes.allowed is not a list");
                 for (const YAML::Node& entry : value)
                   settings.allowed_runtimes.push_back(reader.absolute_path(entry, "an entry of runtimes.allowed"));
               }}});
}

void read_timeout(Reader& reader, const YAML::Node& node, Settings& settings) {
  const auto text = reader.text(node, "install_timeout");
  if (!text) return;
  const auto duration = parse_duration(*text);
  if (!duration) return reader.error(node, duration.error().what);
  if (*duration < kMinTimeout || *duration > kMaxTimeout)
    return reader.error(node, "install_timeout is not between 100ms and 10m");
  settings.install_timeout = *duration;
}

void read_version(Reader& reader, const YAML::Node& node, bool& seen) {
  seen = true;
  const auto version = reader.text(node, "version");
  if (version && *version != "1") reader.error(node, "version is '" + *version + "'", "this build knows version 1");
}

std::vector<Reader::Key> choice_keys(Reader& reader, Settings& settings) {
  using YAML::Node;
  return {{"mode",
           [&](const Node& node) {
             reader.choice<Mode>(node, "mode", settings.mode, {{"enforce", Mode::enforce}, {"observe", Mode::observe}});
           }},
          {"on_mismatch",
           [&](const Node& node) {
             reader.choice<OnMismatch>(node, "on_mismatch", settings.on_mismatch,
                                       {{"strictest", OnMismatch::strictest}, {"refuse", OnMismatch::refuse}});
           }},
          {"on_failure",
           [&](const Node& node) {
             reader.choice<OnFailure>(node, "on_failure", settings.on_failure,
                                      {{"refuse", OnFailure::refuse}, {"runtime-profile", OnFailure::runtime_profile}});
           }},
          {"exec", [&](const Node& node) {
             reader.choice<ExecSessions>(node, "exec", settings.exec,
                                         {{"cover", ExecSessions::cover}, {"accept", ExecSessions::accept}});
           }}};
}

Settings read_document(Reader& reader, const YAML::Node& root) {
  Settings settings;
  bool version_seen = false;
  std::vector<Reader::Key> keys = choice_keys(reader, settings);
  using YAML::Node;
  keys.push_back({"version", [&](const Node& node) { read_version(reader, node, version_seen); }});
  keys.push_back({"host_layers", [&](const Node& node) { settings.host_layers = reader.layers(node, "host_layers"); }});
  keys.push_back(
      {"host_facts", [&](const Node& node) { settings.host_facts = reader.trusted_path(node, "host_facts"); }});
  keys.push_back({"apply", [&](const Node& node) { read_apply(reader, node, settings); }});
  keys.push_back({"log", [&](const Node& node) { settings.log = reader.absolute_path(node, "log"); }});
  keys.push_back({"install_timeout", [&](const Node& node) { read_timeout(reader, node, settings); }});
  keys.push_back({"runtimes", [&](const Node& node) { read_runtimes(reader, node, settings); }});
  reader.map(root, "the configuration", keys);
  if (!version_seen) reader.error(root, "version is missing", "write `version: 1`");
  return settings;
}

Location whole(const std::string& file) { return {.file = file, .line = 0, .column = 0, .pointer = {}}; }

}  // namespace

Result<std::chrono::milliseconds> parse_duration(std::string_view text) {
  long long number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  constexpr long long kMost = 1'000'000'000;
  if (error == std::errc() && number >= 0 && number <= kMost) {
    if (unit == "ms") return std::chrono::milliseconds(number);
    if (unit == "s") return std::chrono::milliseconds(std::chrono::seconds(number));
    if (unit == "m") return std::chrono::milliseconds(std::chrono::minutes(number));
  }
  return failure(Errc::malformed, "'" + std::string(text) + "' is not a duration such as 10s, 500ms or 2m");
}

Result<Settings> parse_settings(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  if (text.size() > kMaxSettingsBytes) {
    diagnostics.error("settings", whole(file), "larger than " + std::to_string(kMaxSettingsBytes) + " bytes");
    return reported();
  }
  const std::string owned(text);
  if (!check_yaml(owned, file, kMaxSettingsDepth, kMaxYamlNodes, diagnostics)) return reported();
  try {
    Reader reader(file, diagnostics);
    Settings settings = read_document(reader, YAML::Load(owned));
    if (diagnostics.has_errors()) return reported();
    return settings;
  } catch (const std::exception& error) {
    diagnostics.error("settings", whole(file), error.what());
    return reported();
  }
}

std::vector<std::string> Settings::layers_for(const std::map<std::string, std::string>& annotations) const {
  std::vector<std::string> all = host_layers;
  for (const Selection& selection : selections) {
    const auto found = annotations.find(selection.key);
    if (found != annotations.end() && found->second == selection.value)
      all.insert(all.end(), selection.layers.begin(), selection.layers.end());
  }
  return all;
}

}  // namespace seccompress::bundle
