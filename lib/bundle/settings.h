// SPDX-License-Identifier: Apache-2.0
// /etc/seccompress/config.yaml.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "support/diagnostic.h"
#include "support/result.h"

namespace seccompress::bundle {

inline constexpr char kSettingsPath[] = "/etc/seccompress/config.yaml";
inline constexpr std::size_t kMaxSettingsBytes = std::size_t{64} << 10;
inline constexpr std::size_t kMaxSettingsDepth = 8;
inline constexpr std::size_t kMaxLayers = 256;

enum class Unconfined { apply, skip };
enum class Mode { enforce, observe };
enum class OnMismatch { strictest, refuse };
enum class OnFailure { refuse, runtime_profile };
enum class ExecSessions { cover, accept };

// Containers that carry the annotation get these layers too, newer than host_layers. It can only add.
struct Selection {
  std::string key, value;
  std::vector<std::string> layers;
};

struct Settings {
  std::vector<std::string> host_layers;  // "[KIND:]LOCATION", oldest first
  Unconfined unconfined = Unconfined::apply;
  std::vector<Selection> selections;
  Mode mode = Mode::enforce;
  OnMismatch on_mismatch = OnMismatch::strictest;
  OnFailure on_failure = OnFailure::refuse;
  std::string host_facts;  // the file that says which systemd unit layers are read for; "" = by its library
  std::string log;         // "" = syslog only
  ExecSessions exec = ExecSessions::cover;
  std::chrono::milliseconds install_timeout{10'000};
  std::string default_runtime;  // for the runtime wrapper
  std::vector<std::string> allowed_runtimes;

  // host_layers and those of every selection that holds, oldest first.
  std::vector<std::string> layers_for(const std::map<std::string, std::string>& annotations) const;
};

// Strict: unknown keys, duplicate keys, aliases, anchors, tags and further documents are errors, each at its place.
// Errors: Errc::reported.
Result<Settings> parse_settings(std::string_view text, const std::string& file, Diagnostics& diagnostics);

// "10s", "500ms", "2m".
Result<std::chrono::milliseconds> parse_duration(std::string_view text);

}  // namespace seccompress::bundle
