// SPDX-License-Identifier: Apache-2.0
// What one container is to run under: made in the hook, completed when the runtime's own program is known.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bundle/config.h"
#include "bundle/settings.h"
#include "composition.h"
#include "inputs.h"
#include "install/tracer.h"
#include "pipeline.h"
#include "prepared.h"
#include "record.h"
#include "support/diagnostic.h"

namespace seccompress::hooks {

struct PlanInput {
  bundle::Settings settings;
  bundle::Config config;
  std::string config_path;
  std::string config_bytes;
  abi::Runtime runtime = abi::Runtime::runc;
  std::optional<Prepared> prepared;  // the host layers as one program
  bool unconfined = false;           // no linux.seccomp: the host layers alone are the stack
  bool flags_fixed = false;          // the runtime will install by itself: its flags are what they are
  std::string receipts;              // the folder of what earlier starts composed; "" = none
};

// The merged flags: nothing gets weaker (design section 2). SPEC_ALLOW only when every layer has it (a filter
// without it turns the speculation mitigations on for the task); LOG only when every layer asks for it, else it
// would log other layers' verdicts; the rest as the container's own.
std::uint32_t merge_flags(std::uint32_t container, const std::vector<std::uint32_t>& host,
                          std::vector<std::string>& notes);

class Plan {
 public:
  // Reads the host layers, compiles them, and composes them with what config.json predicts. Everything that can be
  // known before the container's filter exists is checked here. Errors: for the runtime's error message.
  static Result<std::unique_ptr<Plan>> make(PlanInput input, Diagnostics& diagnostics);

  // For the program that the runtime is about to install, or for the call at which ours is injected. Fills `record`.
  install::Decision decide(const install::Attempt& attempt, Record& record);

  // Needed calls that fail under the predicted program (of an unconfined container: the program), as messages; empty
  // when all is well or nothing is predicted.
  const std::vector<std::string>& predicted_unmet() const { return predicted_unmet_; }

  // What it composed, for the next start: only after the container was let go, or its file written. Never fails.
  void keep() { compositions_.keep(); }
  const std::vector<std::string>& keeping_notes() const { return compositions_.notes(); }

  // The flags with which the runtime will install, as far as config.json tells.
  std::uint32_t predicted_flags() const { return predicted_flags_; }

 private:
  explicit Plan(PlanInput input);
  Result<void> read_host_layers(Diagnostics& diagnostics);
  Result<void> add_prepared(Diagnostics& diagnostics);
  Result<void> still_prepared() const;
  Result<void> predict(Diagnostics& diagnostics);
  Result<void> compile_host();
  Result<void> not_looser(program::CodeView program);
  Result<void> compose(const install::Attempt& attempt, Record& record, install::Decision& decision);
  Result<void> compose_host(const install::Attempt& attempt, Record& record, install::Decision& decision);
  Result<void> add_container(const install::Attempt& attempt, Record& record);
  Result<program::VerifiedProgram> merged_program(const install::Attempt& attempt, Record& record);
  Result<program::VerifiedProgram> compose_anew(const install::Attempt& attempt, Record& record);
  program::VerifiedProgram take_known(Compositions::Known known, const install::Attempt& attempt, Record& record);
  Result<program::VerifiedProgram> one_program();
  Result<void> predict_program(Ingredients::Kind kind);
  Ingredients ingredients(Ingredients::Kind kind) const;
  Result<void> still_as_kept(const Record& record) const;
  std::uint32_t listener_flag() const;
  Result<void> one_listener(std::uint32_t flags) const;
  void describe(const program::VerifiedProgram& program, Record& record) const;
  std::vector<std::string> unmet(program::CodeView code) const;

  PlanInput input_;
  PipelineOptions options_;
  HostFiles files_;
  Stack stack_;  // host layers, then [the profile on a mismatch], then the container's own
  std::vector<std::uint32_t> host_flags_;
  SystemdRecord systemd_;
  std::size_t host_count_ = 0;            // layers of stack_ that are the host's: one for all that is prepared
  std::optional<CompiledLayer> profile_;  // what config.json says, with the runtime's own changes
  // Host layers and the profile, if there is one.
  std::optional<program::VerifiedProgram> predicted_;
  bool predicted_known_ = false;  // from an earlier start
  Compositions compositions_;
  std::string kept_sha256_;  // of the program that a receipt gave, when one did: what is installed has to have it
  std::vector<std::string> predicted_unmet_;
  std::uint32_t predicted_flags_ = 0;
};

}  // namespace seccompress::hooks
