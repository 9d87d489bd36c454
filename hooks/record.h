// SPDX-License-Identifier: Apache-2.0
// One JSON record per container start, to syslog(3) and to the file named by `log:`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layer_systemd.h"
#include "support/unique_fd.h"

namespace seccompress::hooks {

struct LayerRecord {
  std::string name;
  std::size_t filters = 0;
  std::size_t instructions = 0;
};

// outcome: installed, let-through, observed, killed, refused, skipped, disabled.
struct Record {
  std::string outcome;
  std::string cause;      // of anything but installed
  std::string container;  // id
  std::string engine;     // comm of what started the runtime: "containerd-shim", "conmon", "bash"
  std::string runtime;    // "runc"
  int pid = 0;
  std::uint64_t start_time = 0;  // of pid, clock ticks since boot: what tells it from a later process of that number
  std::string route = "ptrace-hook";
  bool no_new_privs = false;
  std::vector<LayerRecord> layers;                    // oldest first, the container's own last
  std::size_t filters_before = 0, filters_after = 0;  // without the inherited ones
  std::size_t instructions_before = 0, instructions_after = 0;
  unsigned inherited_filters = 0;
  std::uint32_t flags = 0;
  std::string program_sha256;
  std::vector<std::string> host_layers;  // as configured for this container
  std::string inputs_sha256;             // of their files
  SystemdRecord systemd;                 // that they were read for
  std::string mismatch;                  // the witness, when the runtime's filter is not what the profile says
  std::vector<std::string> unmet_needs;
  std::vector<std::string> notes;
  bool prepared = false;  // the host layers came from a receipt
  bool cached = false;    // the installed program is one that an earlier start composed
  bool bytes_compared = false;
  unsigned stops = 0;
  double milliseconds_hook = 0, milliseconds_composing = 0, milliseconds_tracing = 0;
};
std::string to_json(const Record& record);  // one line, without the line end

// Opened before the tracer is forked; writing never fails loudly: by then nobody listens.
class Log {
 public:
  Log();  // syslog(3) only
  void use_file(UniqueFd file) { file_ = std::move(file); }
  void write(const Record& record) const;

 private:
  UniqueFd file_;
};

}  // namespace seccompress::hooks
