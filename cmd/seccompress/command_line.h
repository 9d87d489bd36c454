// SPDX-License-Identifier: Apache-2.0
// The only file that sees CLI11 is command_line.cc: its header is slow to compile and sets up globals in every file.
#pragma once

#include <sys/types.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace seccompress::cmd {

// What an option takes beyond its type.
struct Takes {
  bool required = false;
  std::vector<std::string> one_of = {};  // the only texts, when there are some
  bool commas = false;                   // values may stand in one word, commas between
  bool show_default = false;             // the help shows what the variable holds
  unsigned least = 0, most = 0;          // of a number; none when both are 0
};

class CommandLine {
 public:
  // about: the first lines of --help; name: "seccompress SUBCOMMAND".
  CommandLine(const std::string& about, const std::string& name);
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;
  ~CommandLine();

  // names: "LAYER" for a word's place, "-o,--output" for options. The variables are filled by parse().
  void option(const std::string& names, std::string& value, const std::string& help, const Takes& takes = {});
  void option(const std::string& names, std::vector<std::string>& values, const std::string& help,
              const Takes& takes = {});
  void option(const std::string& names, unsigned& value, const std::string& help, const Takes& takes = {});
  void process(const std::string& names, pid_t& value, const std::string& help);  // required
  void flag(const std::string& names, bool& value, const std::string& help);

  // Parses. A value is the exit code to end with: 0 after --help, 2 after misuse (explained on stderr).
  std::optional<int> parse(int argc, char** argv);

 private:
  struct Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace seccompress::cmd
