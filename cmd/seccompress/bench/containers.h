// SPDX-License-Identifier: Apache-2.0
// What `bench hook` and `bench build` put into their containers.
#pragma once

#include <string>

#include "bench.h"
#include "bench/container.h"

namespace seccompress::cmd {

// The container profile as linux.seccomp, resolved for this machine and docker's capabilities.
Result<std::string> container_seccomp(Session& session);

// The hook's program and its configuration on the ground, where the hook accepts them.
struct GroundHook {
  std::string program, settings, log, receipts;
  std::vector<std::string> arguments() const { return {"--config", settings, "--receipts", receipts}; }
};
// layers: as config.yaml has them. Without --hook: beside this program, in the build folder or as installed.
Result<GroundHook> put_hook(bench::ContainerGround& ground, const BenchContext& context, const std::string& name,
                            const std::vector<std::string>& layers);
// As an administrator does: the folder for receipts, and `seccompress prepare`.
Result<void> prepare_hook(const GroundHook& hook);
// A folder of the filters as `dir:` reads it.
Result<std::string> put_filters(bench::ContainerGround& ground, const std::string& name,
                                const std::vector<program::Code>& filters);

}  // namespace seccompress::cmd
