// SPDX-License-Identifier: Apache-2.0
// Real containers of a real runtime on this host's own /usr, in a folder of their own that goes away with it.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/result.h"

namespace seccompress::bench {

struct ContainerOptions {
  std::string runtime;                 // absolute path; its name decides about its options
  std::vector<std::string> arguments;  // of the container's process
  bool no_new_privs = true;
  std::optional<std::string> profile;  // JSON: linux.seccomp
  std::string hook_stage, hook;        // "createRuntime" and a program; none when the stage is empty
  std::vector<std::string> hook_arguments;
};

struct ContainerRun {
  double milliseconds = 0;  // from the runtime's start to its end
  std::string output;
};

class ContainerGround {
 public:
  // Below /var/lib, where every component is root's alone: the hook accepts no other place. Root only.
  static Result<std::unique_ptr<ContainerGround>> make();
  ContainerGround(const ContainerGround&) = delete;
  ContainerGround& operator=(const ContainerGround&) = delete;
  ~ContainerGround();

  const std::string& folder() const { return folder_; }
  // A file below the folder, which its containers see, read-only, under the same path.
  Result<std::string> write(const std::string& name, std::string_view bytes, unsigned mode = 0644);
  Result<std::string> copy(const std::string& file, const std::string& name);  // executable
  // Folders of the host that containers see, read-only, under the same path.
  void show(const std::string& folder) { shown_.push_back(folder); }

  // One bundle for any number of runs.
  Result<std::string> bundle(const ContainerOptions& options);
  // The whole life of one container. A failure has what the runtime wrote to its log.
  Result<ContainerRun> run(const std::string& runtime, const std::string& bundle, std::chrono::milliseconds deadline);

 private:
  explicit ContainerGround(std::string folder) : folder_(std::move(folder)) {}
  std::string config(const ContainerOptions& options) const;

  std::string folder_;
  std::vector<std::string> shown_;
  unsigned bundles_ = 0, runs_ = 0;
};

// The program's path: of the usual folders the first that has it.
std::optional<std::string> find_program(const std::string& name);

}  // namespace seccompress::bench
