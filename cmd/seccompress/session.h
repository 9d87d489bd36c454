// SPDX-License-Identifier: Apache-2.0
// One run of a subcommand that compiles layers: options made sense of, diagnostics collected and shown once.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "host/facts_file.h"
#include "options.h"
#include "pipeline.h"
#include "policy/runtime.h"

namespace seccompress::cmd {

inline constexpr char kMeasuredWeights[] = "measured";  // the default table; else the SHA-256 of --weights' text

class Session {
 public:
  Session(CompileOptions compile, OutputOptions output) : compile_(std::move(compile)), output_(output) {}

  // Resolves the options against this host. First call of every subcommand.
  Result<void> prepare();
  // Layers as typed, oldest first.
  Result<Stack> compile(const std::vector<std::string>& layers);
  // One layer; a policy as the runtime of --runtime takes it.
  Result<read::Layer> read(const std::string& layer);
  // The programs that a layer stands for, oldest first: filters as they are, a policy as what flatten makes of it
  // alone, several programs where one cannot hold it.
  Result<std::vector<read::NamedFilter>> programs_of(read::Layer layer) const;
  // Units are read for this one. Without it: what --systemd-version says, or the host is asked.
  void use_systemd(host::SystemdChoice systemd) { systemd_ = std::move(systemd); }
  // Shows what the readers found. An error when warnings count as errors (--lint=error) and there are some.
  Result<void> show_diagnostics();
  // Ends the run with exit code 2: everything found so far and then the error, on stderr; with --json also as
  // one object on stdout.
  int fail(const Error& error);

  const PipelineOptions& options() const { return options_; }
  const OutputOptions& output() const { return output_; }
  bool wants_timings() const { return compile_.timings; }

  nlohmann::ordered_json diagnostics_json() const;
  nlohmann::ordered_json host_json() const;

 private:
  bool hidden(const Diagnostic& diagnostic) const;
  Result<void> pin(const std::string& kernel_release);
  Result<void> take_weights();
  Result<void> choose_systemd();  // the first time that a unit is read
  Result<read::Source> load(const read::LayerSpec& spec);

  CompileOptions compile_;
  OutputOptions output_;
  PipelineOptions options_;
  policy::Runtime runtime_ = policy::Runtime::none;
  host::FactsFile pinned_;
  std::optional<host::SystemdChoice> systemd_;
  std::string weights_ = kMeasuredWeights;
  Diagnostics diagnostics_;
  bool shown_ = false;
};

nlohmann::ordered_json to_json(const Timings& timings);
std::string timings_text(const Timings& timings);

}  // namespace seccompress::cmd
