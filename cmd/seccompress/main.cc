// SPDX-License-Identifier: Apache-2.0
// seccompress: many stacked seccomp policies become one proved program. Parses, calls the library, prints.
#include <array>
#include <csignal>
#include <string>
#include <string_view>

#include "command.h"
#include "output.h"
#include "pid_layer.h"
#include "read/reader.h"
#include "unit_layer.h"
#include "version.h"

namespace {

using namespace seccompress;
using namespace seccompress::cmd;

struct Command {
  std::string_view name;
  int (*run)(int argc, char** argv);
  std::string_view help;
};

constexpr std::array<Command, 12> kCommands = {{
    {"flatten", run_flatten, "the one program that equals a stack of layers, proved"},
    {"intersect", run_flatten, "the same command"},
    {"inspect", run_inspect, "what a stack is made of, which filters add nothing, what calls cost now and flat"},
    {"explain", run_explain, "what happens to one call, and which layer, rule and line decide it"},
    {"compare", run_compare, "equal, stricter, looser or incomparable, with witnesses"},
    {"simulate", run_simulate, "what each call meets: verdict, executed instructions, the kernel's cache"},
    {"run", run_run, "a command under the one program"},
    {"disasm", run_disasm, "readable listing of a layer's programs"},
    {"dump", run_dump, "a live process's filters as files"},
    {"prepare", run_prepare, "the host layers of config.yaml compiled once, for the hook"},
    {"bench", run_bench, "measurements of stacked filters, beside the published ones"},
    {"status", run_status, "running containers: route, program, up to date or stale"},
}};

std::string help_text() {
  std::string text = "Usage: seccompress COMMAND [OPTION...]\n\nCommands (COMMAND --help tells more):\n";
  Table commands(true);
  for (const Command& command : kCommands) commands.add({"  " + std::string(command.name), std::string(command.help)});
  text += commands.text() + "\nA LAYER is [KIND:]LOCATION, oldest first; without KIND the content decides. Kinds:\n";
  Table kinds(true);
  for (const read::ReaderFacts& reader : read::readers())
    kinds.add({"  " + std::string(reader.kind), std::string(reader.summary)});
  kinds.add({"  unit", std::string(kUnitSummary)});
  kinds.add({"  pid", std::string(kPidSummary)});
  return text + kinds.text();
}

int misuse(const std::string& what) {
  complain({Severity::error, "usage", {}, what, "see seccompress --help"});
  return kFailed;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return misuse("no command given");
  const std::string_view word = argv[1];
  if (word == "--help" || word == "-h" || word == "help") return print(help_text());
  if (word == "--version") return print(version_text());
  // A file larger than the limit is an error like any other. Not for `run`: its command would inherit it.
  if (word != "run") std::signal(SIGXFSZ, SIG_IGN);
  for (const Command& command : kCommands)
    if (command.name == word) return command.run(argc - 1, argv + 1);
  return misuse("unknown command '" + std::string(word) + "'");
}
