// SPDX-License-Identifier: Apache-2.0
// The host layers of a configuration as one program, made once by `seccompress prepare`.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "bundle/settings.h"
#include "host/facts_file.h"
#include "inputs.h"
#include "program/verified_program.h"
#include "receipt/cache.h"
#include "record.h"
#include "support/diagnostic.h"

namespace seccompress::hooks {

struct Prepared {
  std::vector<LayerRecord> layers;    // what the program stands for, oldest first
  std::vector<std::uint32_t> flags;   // SECCOMP_FILTER_FLAG_* of each
  std::vector<std::string> warnings;  // what was said when the layers were read
  SystemdRecord systemd;              // that they were read for
  Input configuration;
  std::vector<Input> inputs;  // the layers' files
  std::string program_sha256;
  program::VerifiedProgram program;
};

// Asked about the systemd that unit layers were read for, before anything is kept: an error of it is prepare's.
using SystemdCheck = std::function<Result<void>(const host::SystemdChoice& systemd, const bundle::Settings& settings)>;

// Compiles the host layers of the configuration at `path` and keeps the result. The error says what could not be read,
// proved or written; nothing is kept then.
Result<Prepared> prepare(const std::string& path, const receipt::Cache& cache, Diagnostics& diagnostics,
                         const SystemdCheck& check = {});

// What is kept for this configuration; changes nothing.
struct Look {
  enum class State {
    none,      // nothing was prepared
    good,      // the hook uses it
    stale,     // an input is not what it was: the hook refuses
    unusable,  // cannot be believed, or another build's or kernel's: the hook prepares again
  };
  State state = State::none;
  std::string why;                   // of stale and unusable
  std::optional<Prepared> prepared;  // what could be read of it
};
Look look_prepared(const std::string& path, const receipt::Cache& cache);

// For a start under the configuration with this hash. nullopt: nothing was prepared, or what was is unusable and could
// not be made again; `notes` says so. Errc::refused: stale.
Result<std::optional<Prepared>> find_prepared(const std::string& path, const std::string& settings_sha256,
                                              const receipt::Cache& cache, std::vector<std::string>& notes);

}  // namespace seccompress::hooks
