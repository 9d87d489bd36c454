// SPDX-License-Identifier: Apache-2.0
// Looks at the filters that the kernel holds for a live process.
//   check_live dump PID INDEX FILE           writes filter INDEX (0 = oldest) as raw bytes
//   check_live equal PID INDEX LAYER...      is filter INDEX equal to the stack of these layers (oldest first)?
// Exit: 0 yes, 1 no, 2 error. `equal` asks verify, which shares nothing with the code that made the filter.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "host/live_stack.h"
#include "pipeline.h"
#include "support/file.h"

namespace {

using namespace seccompress;

int fail(const std::string& what) {
  std::fprintf(stderr, "check_live: %s\n", what.c_str());
  return 2;
}

Result<program::Code> live_filter(const char* pid, const char* index) {
  TRY_ASSIGN(std::vector<host::LiveFilter> filters, host::read_live_stack(std::atoi(pid)));
  const auto wanted = static_cast<std::size_t>(std::atoi(index));
  if (wanted >= filters.size())
    return failure(Errc::refused, "the process has " + std::to_string(filters.size()) + " filters");
  return filters[wanted].code;
}

Result<std::vector<program::Code>> programs_of(int count, char** specs) {
  const PipelineOptions options;
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  for (int i = 0; i < count; ++i) {
    TRY_ASSIGN(const read::LayerSpec spec, read::parse_layer_spec(specs[i]));
    TRY(add_layer(stack, spec, options, diagnostics));
  }
  return stack.programs();
}

int equal(const program::Code& live, int count, char** specs) {
  const auto programs = programs_of(count, specs);
  if (!programs) return fail(to_string(programs.error()));
  const verify::Outcome outcome = verify::prove(live, *programs);
  const bool proved = std::holds_alternative<program::VerifiedProgram>(outcome);
  if (!proved) std::fprintf(stderr, "check_live: %s\n", verify::to_string(outcome).c_str());
  return proved ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return fail("usage: check_live dump PID INDEX FILE | equal PID INDEX LAYER...");
  const std::string command = argv[1];
  const auto live = live_filter(argv[2], argv[3]);
  if (!live) return fail(to_string(live.error()));
  if (command == "equal") return equal(*live, argc - 4, argv + 4);
  const auto written = write_file_atomically(argv[4], program::to_bytes(*live));
  return written ? 0 : fail(to_string(written.error()));
}
