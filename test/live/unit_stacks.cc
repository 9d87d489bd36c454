// SPDX-License-Identifier: Apache-2.0
// unit_stacks (UNIT PID | UNIT stricter:CALLS:PID | UNIT refused:WORDS)...: each unit's file as read against the
// filters of the process that systemd started for it: equal, or stricter for just those calls; `refused` for units that
// systemd does not start: reading them is an error with these words. One line for each; exit 1 when one is wrong.
// unit_stacks find NAME...: which unit each name is, and its files: "NAME: UNIT FRAGMENT DROP-IN..." or "NAME: error".
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "host/live_stack.h"
#include "host/unit_search.h"
#include "support/unit_stack.h"

namespace {

using namespace seccompress;

read::Options options() { return {.arch = abi::Arch::x86_64, .caps = {}, .kernel = {6, 1}}; }

std::string compare_refused(const std::string& unit, std::string_view words) {
  Diagnostics diagnostics;
  const auto layer = read::read({"systemd", unit}, options(), diagnostics);
  if (layer) return "was read, but systemd does not start it\n";
  if (layer.error().code != make_error_code(Errc::reported)) return to_string(layer.error()) + '\n';
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics.all())
    if (diagnostic.severity == Severity::error) all += to_string(diagnostic) + '\n';
  return all.find(words) == std::string::npos ? "not refused with \"" + std::string(words) + "\" but: " + all : "";
}

int find_units(int count, char** names) {
  for (int i = 0; i < count; ++i) {
    const auto found = host::find_unit(names[i]);
    std::printf("%s: %s", names[i], found ? found->name.c_str() : to_string(found.error()).c_str());
    if (found) std::printf(" %s", found->fragment.c_str());
    for (std::size_t k = 0; found && k < found->drop_ins.size(); ++k) std::printf(" %s", found->drop_ins[k].c_str());
    std::printf("\n");
  }
  return 0;
}

constexpr std::string_view kStricter = "stricter:", kRefused = "refused:";

std::string compare_live(const std::string& unit, std::string_view process, std::size_t& count) {
  // "stricter:CALLS:PID" or "PID"
  const bool stricter = process.starts_with(kStricter);
  const std::size_t colon = process.rfind(':');
  const std::string pid(colon == std::string_view::npos ? process : process.substr(colon + 1));
  const std::string expected(stricter ? process.substr(kStricter.size(), colon - kStricter.size()) : "");
  const auto live = host::read_live_stack(std::atoi(pid.c_str()));
  if (!live) return to_string(live.error());
  std::vector<program::Code> codes;
  for (const host::LiveFilter& filter : *live) codes.push_back(filter.code);
  count = codes.size();
  if (!stricter) return test::compare_unit(unit, codes, options());
  const std::string calls = test::stricter_calls(unit, codes, options());
  return calls == expected ? "" : "is stricter for: " + calls + ", expected: " + expected + '\n';
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "find") == 0) return find_units(argc - 2, argv + 2);
  bool good = true;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::size_t filters = 0;
    const std::string_view how = argv[i + 1];
    const bool refused = how.starts_with(kRefused);
    const std::string fault =
        refused ? compare_refused(argv[i], how.substr(kRefused.size())) : compare_live(argv[i], how, filters);
    if (fault.empty())
      std::printf("ok %s: %s\n", argv[i], refused ? "refused" : (std::to_string(filters) + " filters").c_str());
    else
      std::printf("FAIL %s: %s", argv[i], fault.c_str());
    good = good && fault.empty();
  }
  return good ? 0 : 1;
}
