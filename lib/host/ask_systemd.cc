// SPDX-License-Identifier: Apache-2.0
// Input: this host's systemd-analyze. Output: what it prints, read. Entry point: ask_systemd.
#include "host/ask_systemd.h"

#include "host/spawn.h"

namespace seccompress::host {
namespace {

constexpr char kProgram[] = "/usr/bin/systemd-analyze";

Result<std::string> output_of(const std::vector<std::string>& arguments) {
  TRY_ASSIGN(Finished done, spawn({.path = kProgram, .arguments = arguments, .max_output = kMaxSyscallFilterText}));
  if (done.exit_code == 0) return std::move(done.output);
  return failure(Errc::refused, std::string(kProgram) + " " + arguments.front() + ": ended with exit code " +
                                    std::to_string(done.exit_code));
}

}  // namespace

Result<std::optional<SystemdFacts>> ask_systemd() {
  const auto banner = output_of({"--version"});
  if (!banner && banner.error().code == std::errc::no_such_file_or_directory) return std::nullopt;
  if (!banner) return tl::unexpected(banner.error());
  SystemdFacts facts;
  TRY_ASSIGN(facts.version, parse_banner(*banner));
  TRY_ASSIGN(const std::string groups, output_of({"--no-pager", "syscall-filter"}));
  TRY_ASSIGN(facts.groups, parse_syscall_filter(groups));
  return facts;
}

}  // namespace seccompress::host
