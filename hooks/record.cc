// SPDX-License-Identifier: Apache-2.0
// Input: a Record. Output: one line of JSON. Entry points: to_json, Log::write.
// The container's id and annotations are its creator's words: invalid UTF-8 is replaced, and nlohmann escapes
// every control character, so a record cannot forge a second line.
#include "record.h"

#include <syslog.h>
#include <time.h>

#include <nlohmann/json.hpp>

namespace seccompress::hooks {
namespace {

std::string utc_now() {
  const time_t now = ::time(nullptr);
  tm parts{};
  char text[32];
  if (::gmtime_r(&now, &parts) == nullptr || ::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) == 0)
    return {};
  return text;
}

nlohmann::ordered_json layers_json(const std::vector<LayerRecord>& layers) {
  auto list = nlohmann::ordered_json::array();
  for (const LayerRecord& layer : layers)
    list.push_back({{"name", layer.name}, {"filters", layer.filters}, {"instructions", layer.instructions}});
  return list;
}

}  // namespace

std::string to_json(const Record& record) {
  const nlohmann::ordered_json json = {
      {"time", utc_now()},
      {"outcome", record.outcome},
      {"cause", record.cause},
      {"container", record.container},
      {"engine", record.engine},
      {"runtime", record.runtime},
      {"pid", record.pid},
      {"start_time", record.start_time},
      {"route", record.route},
      {"no_new_privs", record.no_new_privs},
      {"layers", layers_json(record.layers)},
      {"filters",
       {{"before", record.filters_before}, {"after", record.filters_after}, {"inherited", record.inherited_filters}}},
      {"instructions", {{"before", record.instructions_before}, {"after", record.instructions_after}}},
      {"flags", record.flags},
      {"program_sha256", record.program_sha256},
      {"host_layers", record.host_layers},
      {"inputs_sha256", record.inputs_sha256},
      {"systemd", to_json(record.systemd)},
      {"mismatch", record.mismatch},
      {"unmet_needs", record.unmet_needs},
      {"notes", record.notes},
      {"prepared", record.prepared},
      {"cached", record.cached},
      {"bytes_compared", record.bytes_compared},
      {"stops", record.stops},
      {"milliseconds",
       {{"hook", record.milliseconds_hook},
        {"composing", record.milliseconds_composing},
        {"tracing", record.milliseconds_tracing}}},
  };
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

Log::Log() { ::openlog("seccompress-hook", LOG_PID | LOG_NDELAY, LOG_DAEMON); }

void Log::write(const Record& record) const {
  std::string line = to_json(record);
  const bool good = record.outcome == "installed" || record.outcome == "observed";
  ::syslog(good ? LOG_INFO : LOG_WARNING, "%s", line.c_str());
  if (!file_) return;
  line += '\n';
  // One write of one line: O_APPEND keeps the lines of several starts apart.
  (void)!::write(file_.get(), line.data(), line.size());
}

}  // namespace seccompress::hooks
