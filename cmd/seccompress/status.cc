// SPDX-License-Identifier: Apache-2.0
// status: the log's records and the live processes -> a table of running containers, each up to date or stale.
// And whether what `prepare` kept still stands for the host layers.
// Exit 0: all that were merged are up to date, and so is what was prepared, if anything was; 1: some are not, or run
// without, or the hook refuses starts because the preparation is stale; 2: no answer.
// Method: a record belongs to a process when its pid and start time are those of a live one. Up to date: the host
// layers of config.yaml as they are on the disk now are those of the record, and the kernel holds the recorded program.
// Weakness: what the log no longer has (rotated away) is not seen; without `log:` there is nothing to look at.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "bundle/settings.h"
#include "bundle/trusted_file.h"
#include "command.h"
#include "host/live_stack.h"
#include "install/identity.h"
#include "layers.h"
#include "output.h"
#include "prepared.h"
#include "session.h"
#include "support/file.h"
#include "support/sha256.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kMaxLogBytes = std::size_t{64} << 20;
constexpr std::size_t kHashShown = 12;

struct Container {
  std::string id, runtime, route, outcome, program, inputs;
  int pid = 0;
  std::uint64_t start_time = 0;
  std::size_t inherited = 0;
  std::vector<std::string> host_layers;
  Json systemd;            // {version, from} that unit layers were read for, or null
  std::string state, why;  // "up to date", "stale", "without" (it should have been merged), "left alone"
  bool fine() const { return state == "up to date" || state == "left alone"; }
};

struct Host {
  bundle::Settings settings;
  bool disabled = false;
  std::map<std::vector<std::string>, std::string> hashes;  // host layers -> what their files say; "" unreadable
};

// A line that is not one of our records (cut off, written by another version) is nothing to report on.
std::optional<Container> parse_record(const std::string& line) {
  const Json json = Json::parse(line, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  try {
    Container container;
    container.id = json.at("container").get<std::string>();
    container.runtime = json.at("runtime").get<std::string>();
    container.route = json.at("route").get<std::string>();
    container.outcome = json.at("outcome").get<std::string>();
    container.program = json.at("program_sha256").get<std::string>();
    container.inputs = json.at("inputs_sha256").get<std::string>();
    container.pid = json.at("pid").get<int>();
    container.start_time = json.at("start_time").get<std::uint64_t>();
    container.inherited = json.at("filters").at("inherited").get<std::size_t>();
    container.host_layers = json.at("host_layers").get<std::vector<std::string>>();
    container.why = json.at("cause").get<std::string>();
    container.systemd = json.value("systemd", Json());
    return container;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

bool is_alive(const Container& container) {
  const auto stat = container.pid > 0 ? install::read_stat(container.pid) : failure(Errc::refused, "");
  return stat && stat->start_time == container.start_time && stat->state != 'Z' && stat->state != 'X';
}

// The last record of each process that still lives, in the order of the log.
std::vector<Container> live_containers(const std::string& log) {
  std::vector<Container> all;
  std::map<std::pair<int, std::uint64_t>, std::size_t> place;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    auto container = parse_record(log.substr(at, end - at));
    at = end + 1;
    if (!container || !is_alive(*container)) continue;
    const auto [found, is_new] = place.try_emplace({container->pid, container->start_time}, all.size());
    if (is_new)
      all.push_back(std::move(*container));
    else
      all[found->second] = std::move(*container);
  }
  return all;
}

const std::string& hash_now(Host& host, const std::vector<std::string>& layers) {
  const auto [found, is_new] = host.hashes.try_emplace(layers);
  if (!is_new) return found->second;
  hooks::HostFiles files;
  Diagnostics diagnostics;
  Result<hooks::LayerReader> reader = hooks::LayerReader::make(host.settings);
  if (!reader) return found->second;
  for (const std::string& layer : layers)
    if (!reader->read(layer, diagnostics, files)) return found->second;
  return found->second = hooks::content_hash(files.inputs());
}

bool is_crun_init(int pid) {
  const auto stat = install::read_stat(pid);
  const auto runtime = stat ? install::runtime_of_comm(stat->comm) : failure(Errc::refused, "");
  return runtime && *runtime == abi::Runtime::crun;
}

// Why the kernel's filter is not the recorded one; empty: it is, or the kernel does not show it to us.
std::string unlike_record(const Container& container) {
  const auto filters = host::read_live_stack(container.pid);
  if (!filters) return {};
  // `crun create` with no_new_privs: init waits for `start`, and installs the program of its file then.
  if (filters->size() == container.inherited && container.route == "create-container" && is_crun_init(container.pid))
    return {};
  if (filters->size() <= container.inherited) return "the process has no filter of ours";
  if (sha256(program::to_bytes((*filters)[container.inherited].code)) == container.program) return {};
  return "the process has another program than the one recorded";
}

std::string why_stale(Host& host, const Container& container) {
  const auto& configured = host.settings.host_layers;
  if (container.host_layers.size() < configured.size() ||
      !std::equal(configured.begin(), configured.end(), container.host_layers.begin()))
    return "host_layers is another list now";
  if (hash_now(host, container.host_layers) != container.inputs) return "the host layers' files changed";
  return unlike_record(container);
}

void judge(Host& host, Container& container) {
  if (container.outcome != "installed") {
    container.state = container.outcome == "let-through" ? "without" : "left alone";
    container.why = container.outcome + (container.why.empty() ? "" : ": " + container.why);
    return;
  }
  container.why = why_stale(host, container);
  container.state = container.why.empty() ? "up to date" : "stale";
}

std::string state_of(const hooks::Look& look) {
  switch (look.state) {
    case hooks::Look::State::none: return "none";
    case hooks::Look::State::good: return "up to date";
    case hooks::Look::State::stale: return "stale";
    case hooks::Look::State::unusable: return "unusable";
  }
  return {};
}

std::string consequence_of(const hooks::Look& look) {
  switch (look.state) {
    case hooks::Look::State::none: return "the layers are compiled at each start; seccompress prepare does it once";
    case hooks::Look::State::good:
      return "program " + look.prepared->program_sha256.substr(0, kHashShown) +
             hooks::systemd_text(look.prepared->systemd);
    case hooks::Look::State::stale: return look.why + "; starts are refused until seccompress prepare";
    case hooks::Look::State::unusable: return look.why + "; made again at the next start";
  }
  return {};
}

Json to_json(const hooks::Look& look) {
  return {{"state", state_of(look)},
          {"why", look.why},
          {"program_sha256", look.prepared ? look.prepared->program_sha256 : ""},
          {"systemd", look.prepared ? hooks::to_json(look.prepared->systemd) : Json()}};
}

Json to_json(const Container& container) {
  return {{"container", container.id},
          {"pid", container.pid},
          {"runtime", container.runtime},
          {"route", container.route},
          {"program_sha256", container.program},
          {"systemd", container.systemd},
          {"state", container.state},
          {"why", container.why}};
}

std::string text_of(const Host& host, const hooks::Look& look, const std::vector<Container>& containers) {
  std::string text = host.disabled ? "disabled: new containers are left alone\n" : "";
  text += "prepared: " + state_of(look) + " (" + consequence_of(look) + ")\n";
  if (containers.empty()) return text + "no running container in the log\n";
  Table table(true);
  table.add({"container", "pid", "runtime", "route", "program", "state"});
  for (const Container& c : containers)
    table.add({c.id, std::to_string(c.pid), c.runtime, c.route,
               c.program.empty() ? "-" : c.program.substr(0, kHashShown),
               c.state + (c.why.empty() ? "" : " (" + c.why + ")")});
  return text + table.text();
}

Result<Host> read_host(const std::string& path, Diagnostics& diagnostics) {
  Host host;
  TRY_ASSIGN(const bundle::TrustedFile file, bundle::read_trusted_file(path, bundle::kMaxSettingsBytes));
  TRY_ASSIGN(host.settings, bundle::parse_settings(file.bytes, path, diagnostics));
  TRY_ASSIGN(host.disabled, bundle::trusted_file_exists(path.substr(0, path.rfind('/') + 1) + "disabled"));
  if (host.settings.log.empty())
    return failure(Errc::refused, path + ": has no `log:`, and the records of it are what status reads");
  return host;
}

// 0 or 1 as above.
Result<int> show_status(const std::string& path, const receipt::Cache& cache, const OutputOptions& output,
                        Diagnostics& diagnostics) {
  TRY_ASSIGN(Host host, read_host(path, diagnostics));
  auto log = read_file(host.settings.log, kMaxLogBytes);
  if (!log && log.error().code != std::errc::no_such_file_or_directory) return tl::unexpected(std::move(log).error());
  std::vector<Container> containers = live_containers(log ? *log : std::string());
  const hooks::Look look = hooks::look_prepared(path, cache);
  Json list = Json::array();
  bool fine = look.state != hooks::Look::State::stale;
  for (Container& container : containers) {
    judge(host, container);
    fine = fine && container.fine();
    list.push_back(to_json(container));
  }
  const int printed = output.json
                          ? print_json({{"disabled", host.disabled}, {"prepared", to_json(look)}, {"containers", list}})
                      : output.quiet ? kOk
                                     : print(text_of(host, look, containers));
  if (printed != kOk) return reported();
  return fine ? kOk : kNo;
}

}  // namespace

int run_status(int argc, char** argv) {
  CommandLine app("Running containers: route, program, up to date or stale.", "seccompress status");
  std::string path = bundle::kSettingsPath, receipts = receipt::kCacheFolder;
  OutputOptions output;
  app.option("--config", path, "the configuration, under the hook's ownership rules", {.show_default = true});
  app.option("--receipts", receipts, "where seccompress prepare keeps its result", {.show_default = true});
  add_output_options(app, output);
  if (const auto code = app.parse(argc, argv)) return *code;
  Session session({}, output);
  Diagnostics diagnostics;
  const Result<int> code = show_status(path, receipt::Cache(receipts), output, diagnostics);
  if (code) return *code;
  for (const Diagnostic& diagnostic : diagnostics.all()) complain(diagnostic);
  return session.fail(code.error());
}

}  // namespace seccompress::cmd
