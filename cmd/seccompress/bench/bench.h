// SPDX-License-Identifier: Apache-2.0
// What every measurement of `bench` is given, and the measurements.
#pragma once

#include <string>
#include <vector>

#include "bench/report.h"
#include "bench/trials.h"
#include "session.h"

namespace seccompress::cmd {

struct BenchContext {
  Session& session;
  std::vector<std::string> layers;  // as typed; none: the built-in stack
  bench::Plan plan;
  bool quick = false;
  std::string hook, sources;  // paths; empty: found
  bench::Progress progress;
};

Result<bench::Report> bench_unixbench(BenchContext& context);
Result<bench::Report> bench_entry(BenchContext& context);
Result<bench::Report> bench_allow_min(BenchContext& context);
Result<bench::Report> bench_cache(BenchContext& context);
Result<bench::Report> bench_snap(BenchContext& context);
Result<bench::Report> bench_hook(BenchContext& context);
Result<bench::Report> bench_build(BenchContext& context);

}  // namespace seccompress::cmd
