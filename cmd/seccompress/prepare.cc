// SPDX-License-Identifier: Apache-2.0
// prepare: the host layers of config.yaml -> one proved program in the cache, which the hook uses from then on.
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "command.h"
#include "command_line.h"
#include "output.h"
#include "prepared.h"
#include "session.h"
#include "support/clock.h"
#include "systemd_drift.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;

// CPU time in microseconds: of the preparation, and of finding it again as the hook does at each start (receipt read
// and checked, every input looked at).
struct Cost {
  double preparing = 0, from_receipt = 0;
};

Json to_json(const hooks::Prepared& prepared, const Cost& cost) {
  Json layers = Json::array(), inputs = Json::array();
  for (const hooks::LayerRecord& layer : prepared.layers)
    layers.push_back({{"name", layer.name}, {"filters", layer.filters}, {"instructions", layer.instructions}});
  for (const hooks::Input& input : prepared.inputs) inputs.push_back({{"path", input.path}, {"sha256", input.sha256}});
  return {{"layers", layers},
          {"inputs", inputs},
          {"systemd", hooks::to_json(prepared.systemd)},
          {"instructions", prepared.program.code().size()},
          {"program_sha256", prepared.program_sha256},
          {"timings_us", {{"preparing", std::round(cost.preparing)}, {"from_receipt", std::round(cost.from_receipt)}}}};
}

std::string text_of(const hooks::Prepared& prepared) {
  std::size_t filters = 0, instructions = 0;
  for (const hooks::LayerRecord& layer : prepared.layers) {
    filters += layer.filters;
    instructions += layer.instructions;
  }
  return fmt::format("prepared: {}, {}, {} -> 1 filter, {}; program {}{}\n", counted(prepared.layers.size(), "layer"),
                     counted(filters, "filter"), counted(instructions, "instruction"),
                     counted(prepared.program.code().size(), "instruction"), prepared.program_sha256,
                     hooks::systemd_text(prepared.systemd));
}

std::string timings_text(const Cost& cost) {
  return fmt::format("CPU time in us: preparing {:.0f}, from the receipt {:.0f}\n", cost.preparing, cost.from_receipt);
}

template <class Work>
auto measured(double& microseconds, Work work) {
  const CpuTimer timer(microseconds);
  return work();
}

}  // namespace

int run_prepare(int argc, char** argv) {
  CommandLine app("Compiles the host layers of the configuration once; the hook then uses that program.",
                  "seccompress prepare");
  std::string path = bundle::kSettingsPath, folder = receipt::kCacheFolder, facts;
  OutputOptions output;
  bool timings = false;
  app.option("--config", path, "the configuration, under the hook's ownership rules", {.show_default = true});
  app.option("--receipts", folder, "root's folder for the result, mode 0700", {.show_default = true});
  app.option("--write-host-facts", facts, "ask this host's systemd and write what `host_facts:` takes, nothing else");
  app.flag("--timings", timings, "CPU time of the preparation, and of finding it again as the hook does");
  add_output_options(app, output);
  if (const auto code = app.parse(argc, argv)) return *code;
  if (!facts.empty()) return write_host_facts(facts, output);
  Diagnostics diagnostics;
  const receipt::Cache cache(folder);
  Cost cost;
  const auto prepared = measured(cost.preparing, [&] {
    return hooks::prepare(path, cache, diagnostics, [&](const auto& systemd, const auto& settings) {
      return check_systemd(systemd, settings, path, diagnostics);
    });
  });
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity == Severity::error || !output.quiet) complain(diagnostic);
  if (!prepared) return Session({}, output).fail(prepared.error());
  measured(cost.from_receipt, [&] { return hooks::look_prepared(path, cache); });
  if (timings && !output.json) std::fputs(timings_text(cost).c_str(), stderr);
  return output.json ? print_json(to_json(*prepared, cost)) : output.quiet ? kOk : print(text_of(*prepared));
}

}  // namespace seccompress::cmd
