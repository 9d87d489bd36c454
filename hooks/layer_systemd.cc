// SPDX-License-Identifier: Apache-2.0
// Input: host_facts, the host's libraries. Output: version and groups. Entry point: systemd_for_units.
// Of the file only `systemd` counts: its kernel, architecture, capabilities and weights are what a command line was
// asked to assume, and a container runs on the kernel that is here.
#include "layer_systemd.h"

#include <nlohmann/json.hpp>

namespace seccompress::hooks {
namespace {

Result<host::SystemdChoice> by_file(const std::string& path, Diagnostics& diagnostics, HostFiles& files) {
  TRY_ASSIGN(const bundle::TrustedFile file, files.read(path, host::kMaxFactsBytes));
  TRY_ASSIGN(host::FactsFile facts, host::parse_facts(file.bytes, path, diagnostics));
  if (!facts.systemd)
    return failure(Errc::refused, path +
                                      ": says nothing of systemd; write it with `seccompress prepare "
                                      "--write-host-facts " +
                                      path + "`");
  facts.systemd->from = path;
  return std::move(*facts.systemd);
}

}  // namespace

Result<host::SystemdChoice> systemd_for_units(const std::string& host_facts, Diagnostics& diagnostics,
                                              HostFiles& files) {
  HostFiles own;  // a prepared layer's inputs may have both already
  TRY_ASSIGN(const std::vector<host::SystemdLibrary> libraries, own.find_systemd());
  TRY_ASSIGN(host::SystemdChoice systemd,
             host_facts.empty() ? host::choose_by_library(libraries) : by_file(host_facts, diagnostics, own));
  files.add(own.inputs());
  return systemd;
}

nlohmann::ordered_json to_json(const SystemdRecord& systemd) {
  if (systemd.version == 0) return nullptr;
  return {{"version", systemd.version}, {"from", systemd.from}};
}

std::string systemd_text(const SystemdRecord& systemd) {
  return systemd.version == 0 ? "" : ", units as systemd " + std::to_string(systemd.version) + " takes them";
}

SystemdRecord record_of(const host::SystemdChoice& systemd) { return {systemd.facts.version, systemd.from}; }

}  // namespace seccompress::hooks
