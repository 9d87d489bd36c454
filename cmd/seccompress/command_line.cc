// SPDX-License-Identifier: Apache-2.0
#include "command_line.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "output.h"

namespace seccompress::cmd {
namespace {

void restrict(CLI::Option* option, const Takes& takes) {
  if (takes.required) option->required();
  if (!takes.one_of.empty()) option->check(CLI::IsMember(takes.one_of).description(""));
  if (takes.commas) option->delimiter(',')->allow_extra_args(false);  // what follows may be a layer
  if (takes.show_default) option->capture_default_str();
  if (takes.most != 0) option->check(CLI::Range(takes.least, takes.most));
}

std::string a_process_id(const std::string& text) {
  const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
  return digits && text != "0" ? "" : "'" + text + "' is not a process id";
}

}  // namespace

struct CommandLine::Parser {
  Parser(const std::string& about, const std::string& name) : app(about, name) {}
  CLI::App app;
};

CommandLine::CommandLine(const std::string& about, const std::string& name)
    : parser_(std::make_unique<Parser>(about, name)) {}
CommandLine::~CommandLine() = default;

void CommandLine::option(const std::string& names, std::string& value, const std::string& help, const Takes& takes) {
  restrict(parser_->app.add_option(names, value, help), takes);
}

void CommandLine::option(const std::string& names, std::vector<std::string>& values, const std::string& help,
                         const Takes& takes) {
  restrict(parser_->app.add_option(names, values, help), takes);
}

void CommandLine::option(const std::string& names, unsigned& value, const std::string& help, const Takes& takes) {
  restrict(parser_->app.add_option(names, value, help), takes);
}

void CommandLine::process(const std::string& names, pid_t& value, const std::string& help) {
  parser_->app.add_option(names, value, help)->required()->check(a_process_id);
}

void CommandLine::flag(const std::string& names, bool& value, const std::string& help) {
  parser_->app.add_flag(names, value, help);
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
  CLI::App& app = parser_->app;
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp&) {
    return print(app.help());
  } catch (const CLI::ParseError& misuse) {
    complain({Severity::error, "usage", {}, misuse.what(), "see " + app.get_name() + " --help"});
    return kFailed;
  }
}

}  // namespace seccompress::cmd
