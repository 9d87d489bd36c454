// SPDX-License-Identifier: Apache-2.0
// run: the layers become one program, which this process installs on itself before it becomes CMD. Everything is
// looked up and checked before the installation; after it there is the execve and nothing else.
#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "abi/call.h"
#include "bench/trials.h"
#include "call_arguments.h"
#include "command.h"
#include "explain/regions.h"
#include "filter_list.h"
#include "install/self.h"
#include "output.h"
#include "session.h"

namespace seccompress::cmd {
namespace {

constexpr int kCannotExecute = 126, kNotFound = 127;  // as shells and env(1) have it

struct RunOptions {
  std::vector<std::string> layers, command;
  std::string no_new_privs;
  bool stacked = false;
};

bool is_executable(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         ::faccessat(AT_FDCWD, path.c_str(), X_OK, AT_EACCESS) == 0;
}

// As execvp(3) searches, but before the program is in force.
struct Found {
  std::string path;
  int failure = 0;  // an exit code
};
Found find_command(const std::string& name) {
  if (name.find('/') != std::string::npos) return {name, 0};
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/bin:/usr/bin" : variable;
  bool exists = false;
  for (bool more = true; more;) {
    const std::size_t colon = folders.find(':');
    const std::string folder(folders.substr(0, colon));
    const std::string path = (folder.empty() ? "." : folder) + '/' + name;
    if (is_executable(path)) return {path, 0};
    exists = exists || ::access(path.c_str(), F_OK) == 0;
    more = colon != std::string_view::npos;
    folders.remove_prefix(more ? colon + 1 : folders.size());
  }
  return {name, exists ? kCannotExecute : kNotFound};
}

// execve's arguments, laid out before the installation. /bin/sh takes what has no format of its own (execvp(3)).
struct Execution {
  std::string path;
  std::vector<char*> argv, shell_argv;

  Execution(std::string found, std::vector<std::string>& command) : path(std::move(found)) {
    static char shell[] = "/bin/sh";
    for (std::string& word : command) argv.push_back(word.data());
    shell_argv = {shell, path.data()};
    shell_argv.insert(shell_argv.end(), argv.begin() + 1, argv.end());
    argv.push_back(nullptr);
    shell_argv.push_back(nullptr);
  }
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;
};

std::uint64_t address(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

// The program must let this very execve run, whatever the registers hold that it does not read.
Result<void> check_execve(const Stack& stack, const Flat& flat, const Execution& execution) {
  explain::PartialCall call;
  call.arch = abi::facts(abi::native_arch()).audit;
  call.nr = SYS_execve;
  call.values[0] = address(execution.path.c_str());
  call.values[1] = address(execution.argv.data());
  call.values[2] = address(environ);
  for (const explain::Region& region : explain::regions_of(*stack.store, flat.node, call).regions) {
    if (region.is_computed())
      return failure(Errc::refused,
                     "whether the execve of the command itself may run is computed from values that are "
                     "not known before; a layer must allow execve for run");
    const abi::Verdict action = abi::action_word(region.verdict);
    if (action == abi::kAllow || action == abi::kLog) continue;
    const std::vector<explain::Filter> filters = filters_of(stack);
    const explain::Explanation found = explain::explain(filters, region.example);
    const std::string by =
        !found.winner ? ""
                      : " by " + filter_label(stack, filters[*found.winner]) + " (" +
                            reason(found.opinions[*found.winner], filters[*found.winner], region.example, true) + ")";
    return failure(Errc::refused, "the program answers " + abi::to_string(region.verdict) +
                                      " to the execve of the command itself" + by +
                                      "; a layer must allow execve for run");
  }
  return {};
}

// The flags that every filter asks for. One program has them for all or for none: SPEC_ALLOW switches mitigations off
// and LOG makes refusals visible only where all agree, so nothing gets weaker.
Result<unsigned> merged_flags(const std::vector<explain::Filter>& filters) {
  const auto all_have = [&](const char* flag) {
    return !filters.empty() && std::all_of(filters.begin(), filters.end(), [&](const explain::Filter& filter) {
      return filter.policy != nullptr && std::ranges::find(filter.policy->flags, flag) != filter.policy->flags.end();
    });
  };
  for (const explain::Filter& filter : filters)
    if (filter.policy != nullptr && !filter.policy->listener_path.empty())
      return failure(Errc::refused, filter.name + ": wants a listener at " + filter.policy->listener_path +
                                        ", which run cannot provide");
  return (all_have("SECCOMP_FILTER_FLAG_SPEC_ALLOW") ? SECCOMP_FILTER_FLAG_SPEC_ALLOW : 0U) |
         (all_have("SECCOMP_FILTER_FLAG_LOG") ? SECCOMP_FILTER_FLAG_LOG : 0U);
}

// Comes back only when the execve failed; makes no call but execve, write and exit_group.
int execute(Execution& execution) {
  ::execve(execution.path.c_str(), execution.argv.data(), environ);
  if (errno == ENOEXEC) ::execve("/bin/sh", execution.shell_argv.data(), environ);
  const int error = errno;
  complain({Severity::error, "exec", {}, execution.path + ": " + std::strerror(error), {}});
  return error == ENOENT ? kNotFound : kCannotExecute;
}

// What goes in, oldest first: the one program; with --stacked each filter as it is, a policy as its own program.
Result<std::vector<program::VerifiedProgram>> programs_to_install(Session& session, const RunOptions& options,
                                                                  const Flat& flat) {
  if (!options.stacked) return std::vector{flat.program};
  std::vector<program::Code> filters;
  for (const std::string& name : options.layers) {
    TRY_ASSIGN(read::Layer layer, session.read(name));
    TRY_ASSIGN(std::vector<read::NamedFilter> named, session.programs_of(std::move(layer)));
    for (read::NamedFilter& filter : named) filters.push_back(std::move(filter.code));
  }
  return bench::as_verified(filters);
}

Result<int> run_command(Session& session, RunOptions& options) {
  if (options.command.empty()) return failure(Errc::malformed, "no command given; LAYER... -- CMD [ARG...]");
  TRY(session.prepare());
  if (session.options().read.arch != abi::native_arch())
    return failure(Errc::refused, "--arch: run works for this machine's architecture only");
  const Found found = find_command(options.command.front());
  if (found.failure != 0) {
    complain({Severity::error,
              "exec",
              {},
              found.path + (found.failure == kNotFound ? ": not found" : ": not executable"),
              {}});
    return found.failure;
  }
  TRY_ASSIGN(Stack stack, session.compile(options.layers));
  TRY(session.show_diagnostics());
  TRY_ASSIGN(const Flat flat, flatten(stack, session.options()));
  TRY_ASSIGN(const unsigned flags, merged_flags(filters_of(stack)));
  Execution execution(found.path, options.command);
  TRY(check_execve(stack, flat, execution));
  const bool set_no_new_privs =
      options.no_new_privs.empty() ? !install::has_cap_sys_admin() : options.no_new_privs == "yes";
  TRY_ASSIGN(const auto programs, programs_to_install(session, options, flat));
  for (std::size_t i = 0; i < programs.size(); ++i)
    TRY(install::install_on_self(programs[i], set_no_new_privs && i == 0, flags));
  // A failure ends right here: cleaning up could be a call that the program answers with a kill.
  ::_exit(execute(execution));
}

}  // namespace

int run_run(int argc, char** argv) {
  CommandLine app(
      "Installs the one program that equals the layers, oldest first, on itself and becomes CMD. The exit code is\n"
      "CMD's; 2: nothing was started, 126: CMD cannot be executed, 127: there is no CMD.",
      "seccompress run");
  RunOptions run;
  CompileOptions compile;
  OutputOptions output;
  app.option("LAYER", run.layers, "[KIND:]LOCATION, oldest first; then -- CMD [ARG...]", {.required = true});
  app.option("--no-new-privs", run.no_new_privs, "yes or no (default: yes without CAP_SYS_ADMIN, else as it is)",
             {.one_of = {"yes", "no"}});
  app.flag("--stacked", run.stacked, "install the layers' filters one by one instead: to compare");
  add_read_options(app, compile);
  add_emit_options(app, compile);
  add_output_options(app, output);
  auto command = take_after_dashes(argc, argv);
  if (const auto code = app.parse(argc, argv)) return *code;
  run.command = std::move(command).value_or(std::vector<std::string>{});

  Session session(compile, output);
  const Result<int> code = run_command(session, run);
  return code ? *code : session.fail(code.error());
}

}  // namespace seccompress::cmd
