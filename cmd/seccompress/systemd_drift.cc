// SPDX-License-Identifier: Apache-2.0
// Input: the systemd that unit layers were read for. Output: an error when the host has another. Entry points:
// check_systemd, write_host_facts.
#include "systemd_drift.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "command.h"
#include "host/ask_systemd.h"
#include "output.h"
#include "session.h"
#include "support/file.h"

namespace seccompress::cmd {
namespace {

constexpr std::size_t kDifferencesShown = 5;

// "this host has systemd 254", "on this host 2 members of its groups are others: +@clock uname, -@clock adjtimex"
std::string difference_text(const host::SystemdFacts& has, const host::SystemdFacts& used) {
  if (has.version != used.version) return fmt::format("this host has systemd {}", has.version);
  const std::vector<std::string> lines = host::differences(has.groups, used.groups);
  std::string text = fmt::format("on this host {} of its groups {}: ", counted(lines.size(), "member"),
                                 lines.size() == 1 ? "is another" : "are others");
  for (std::size_t i = 0; i < std::min(lines.size(), kDifferencesShown); ++i) text += (i == 0 ? "" : ", ") + lines[i];
  return text + (lines.size() > kDifferencesShown ? ", ..." : "");
}

// With the commands as they have to be typed.
std::string remedy_text(const bundle::Settings& settings, const std::string& config) {
  const bool named = !settings.host_facts.empty();
  const std::string file = named ? settings.host_facts : config.substr(0, config.rfind('/') + 1) + "host-facts.json";
  return fmt::format("run `seccompress prepare --write-host-facts {}`{}, and prepare again", file,
                     named ? "" : fmt::format(", add `host_facts: {}` to {}", file, config));
}

Result<host::SystemdFacts> ask_and_write(Session& session, const std::string& file) {
  TRY(session.prepare());
  TRY_ASSIGN(auto facts, host::ask_systemd());
  if (!facts) return failure(Errc::refused, "this host has no systemd-analyze: its systemd cannot be asked");
  session.use_systemd({host::kFromHost, *facts});
  TRY(write_file_atomically(file, session.host_json().dump(2) + '\n'));
  return std::move(*facts);
}

}  // namespace

Result<void> check_systemd(const host::SystemdChoice& used, const bundle::Settings& settings, const std::string& config,
                           Diagnostics& diagnostics) {
  TRY_ASSIGN(const auto has, host::ask_systemd());
  if (has && *has == used.facts) return {};
  if (has)
    return failure(Errc::refused,
                   fmt::format("units are read for systemd {} of {}, and {}; {}", used.facts.version, used.from,
                               difference_text(*has, used.facts), remedy_text(settings, config)));
  diagnostics.add(
      {Severity::note,
       "no-systemd",
       {},
       fmt::format("this host has no systemd-analyze: whether its systemd is {} as {} says was not compared",
                   used.facts.version, used.from),
       {}});
  return {};
}

int write_host_facts(const std::string& file, const OutputOptions& output) {
  Session session({}, output);
  const Result<host::SystemdFacts> facts = ask_and_write(session, file);
  if (!facts) return session.fail(facts.error());
  if (output.json) return print_json({{"written", file}, {"host", session.host_json()}});
  const std::size_t others = host::differences(*facts).size();
  return output.quiet ? kOk
                      : print(fmt::format("written: {}, systemd {}, {} of its groups unlike this build's table\n", file,
                                          facts->version, counted(others, "member")));
}

}  // namespace seccompress::cmd
