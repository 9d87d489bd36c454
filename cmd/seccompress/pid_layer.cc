// SPDX-License-Identifier: Apache-2.0
#include "pid_layer.h"

#include <fmt/core.h>

#include <charconv>

#include "host/process_stack.h"

namespace seccompress::cmd {
namespace {

std::optional<pid_t> process_id(std::string_view text) {
  pid_t pid = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), pid);
  if (status != std::errc() || end != text.data() + text.size() || pid <= 0) return std::nullopt;
  return pid;
}

Result<std::vector<host::LiveFilter>> read_filters(const read::LayerSpec& spec) {
  const std::size_t slash = spec.location.find('/');
  const std::string_view text = spec.location;
  const auto pid = process_id(text.substr(0, slash));
  const auto thread = slash == std::string::npos ? pid : process_id(text.substr(slash + 1));
  if (!pid || !thread) return failure(Errc::malformed, read::to_string(spec) + ": not PID or PID/TID");
  if (slash == std::string::npos) return host::read_process_stack(*pid);
  return host::read_thread_stack(*pid, *thread);
}

}  // namespace

Result<read::Layer> read_pid_layer(const read::LayerSpec& spec, Diagnostics& diagnostics) {
  TRY_ASSIGN(std::vector<host::LiveFilter> live, read_filters(spec));
  const Location where{read::to_string(spec), 0, 0, {}};
  if (live.empty()) diagnostics.warning("no-filters", where, "has no seccomp filters: it allows everything");
  std::vector<read::NamedFilter> filters;
  std::size_t logged = 0;
  for (host::LiveFilter& filter : live) {
    logged += filter.log ? 1U : 0U;
    filters.push_back({fmt::format("{:02}{}", filters.size(), filter.log ? " (LOG)" : ""), std::move(filter.code)});
  }
  if (logged > 0 && logged < live.size())
    diagnostics.warning(
        "log-flag", where,
        fmt::format("{} of {} filters have SECCOMP_FILTER_FLAG_LOG; one program logs for all or for none", logged,
                    live.size()));
  return read::Layer{spec, std::move(filters)};
}

}  // namespace seccompress::cmd
