// SPDX-License-Identifier: Apache-2.0
// dump: a live process's filters -> a folder that `dir:` reads: 00.bpf the oldest, 01.bpf ..., and flags.tsv.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "filter_folder.h"
#include "host/live_stack.h"
#include "output.h"
#include "session.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;
using Filters = std::vector<host::LiveFilter>;

Result<void> write_filters(const std::string& folder, const Filters& filters) {
  std::vector<std::pair<std::string, std::string>> files;
  std::string flags = "# file\tflags (the kernel tells of LOG only)\n";
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const std::string name = filter_file_name(i, filters.size());
    files.emplace_back(name, program::to_bytes(filters[i].code));
    flags += name + '\t' + (filters[i].log ? "SECCOMP_FILTER_FLAG_LOG" : "-") + '\n';
  }
  files.emplace_back("flags.tsv", flags);
  return write_filter_folder(folder, files);
}

std::size_t instructions(const Filters& filters) {
  std::size_t sum = 0;
  for (const host::LiveFilter& filter : filters) sum += filter.code.size();
  return sum;
}

Json to_json(pid_t pid, const Filters& filters) {
  Json list = Json::array();
  for (std::size_t i = 0; i < filters.size(); ++i)
    list.push_back({{"file", filter_file_name(i, filters.size())},
                    {"instructions", filters[i].code.size()},
                    {"flags", filters[i].log ? Json{"SECCOMP_FILTER_FLAG_LOG"} : Json::array()}});
  return {{"pid", pid}, {"filters", list}};
}

Result<void> dump_stack(const OutputOptions& output, pid_t pid, const std::string& folder) {
  TRY_ASSIGN(const Filters filters, host::read_live_stack(pid));
  if (filters.empty())
    return failure(
        Errc::refused,
        fmt::format("process {}: has no seccomp filters; 'Seccomp_filters:' in /proc/{}/status counts them", pid, pid));
  TRY(write_filters(folder, filters));
  const std::string text = fmt::format("{}: {}, {}, 00 the oldest\n", folder, counted(filters.size(), "filter"),
                                       counted(instructions(filters), "instruction"));
  const int printed = output.json ? print_json(to_json(pid, filters)) : output.quiet ? kOk : print(text);
  if (printed != kOk) return reported();
  return {};
}

}  // namespace

int run_dump(int argc, char** argv) {
  CommandLine app("A live process's filters as a folder of files, 00.bpf the oldest.", "seccompress dump");
  pid_t pid = 0;
  std::string folder;
  OutputOptions output;
  app.process("PID", pid, "process (or thread) id");
  app.option("-o,--output", folder, "the new folder", {.required = true});
  add_output_options(app, output);
  if (const auto code = app.parse(argc, argv)) return *code;

  Session session({}, output);
  const Result<void> done = dump_stack(output, pid, folder);
  return done ? kOk : session.fail(done.error());
}

}  // namespace seccompress::cmd
