// SPDX-License-Identifier: Apache-2.0
// unit_stacks (UNIT PID | UNIT stricter:PID | UNIT refused)...: each unit's file as read against the filters of the
// process that systemd started for it: equal, or stricter than they are; `refused` for units that systemd does not
// start. One line for each; exit 1 when one is wrong.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "host/live_stack.h"
#include "support/unit_stack.h"

namespace {

using namespace seccompress;

read::Options options() { return {.arch = abi::Arch::x86_64, .caps = {}, .kernel = {6, 1}}; }

std::string compare_refused(const std::string& unit) {
  Diagnostics diagnostics;
  const auto layer = read::read({"systemd", unit}, options(), diagnostics);
  if (layer) return "was read, but systemd does not start it\n";
  return layer.error().code == make_error_code(Errc::reported) ? "" : to_string(layer.error());
}

constexpr std::string_view kStricter = "stricter:";

std::string compare_live(const std::string& unit, std::string_view process, std::size_t& count) {
  const bool stricter = process.starts_with(kStricter);
  const std::string pid(stricter ? process.substr(kStricter.size()) : process);
  const auto live = host::read_live_stack(std::atoi(pid.c_str()));
  if (!live) return to_string(live.error());
  std::vector<program::Code> codes;
  for (const host::LiveFilter& filter : *live) codes.push_back(filter.code);
  count = codes.size();
  if (!stricter) return test::compare_unit(unit, codes, options());
  return test::order_of_unit(unit, codes, options()) == merge::Order::stricter
             ? ""
             : "is not stricter than what is installed\n";
}

}  // namespace

int main(int argc, char** argv) {
  bool good = true;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::size_t filters = 0;
    const bool refused = std::strcmp(argv[i + 1], "refused") == 0;
    const std::string fault = refused ? compare_refused(argv[i]) : compare_live(argv[i], argv[i + 1], filters);
    if (fault.empty())
      std::printf("ok %s: %s\n", argv[i], refused ? "refused" : (std::to_string(filters) + " filters").c_str());
    else
      std::printf("FAIL %s: %s", argv[i], fault.c_str());
    good = good && fault.empty();
  }
  return good ? 0 : 1;
}
