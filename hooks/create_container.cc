// SPDX-License-Identifier: Apache-2.0
// Input: the container's init, registrations. Output: a decision, a file. Entry points: hand_over, program_file,
// fixed_flags.
// Method. Registered for both stages, the hook runs twice, and exactly one of the calls serves. Under crun the first
// one (createRuntime) leaves the container to the second one when that can do it, on evidence that only root can have
// written: the bundle's config.json, where every component of the path is root's, and crun's own copy of what it runs,
// beside the program file, the same bytes. (crun 1.8.1 reads config.json once to run it and again to copy it: without
// the first condition somebody could change it in between; without the second it could be `--config` of another file.)
// Otherwise the first call takes the ptrace route, and the second one recognises its tracer (install/identity.h).
// Weakness: a crun whose cache of programs (since 1.7, when built with it) is empty links the very first program into
// it between the two calls; the second one then refuses that start.
#include "create_container.h"

#include <linux/seccomp.h>
#include <sys/stat.h>

#include <algorithm>

#include "bundle/settings.h"
#include "bundle/trusted_file.h"
#include "install/outside.h"
#include "install/speculation.h"
#include "plan.h"

namespace seccompress::hooks {
namespace {

constexpr std::size_t kMaxProgramBytes = program::kMaxInstructions * sizeof(program::Instruction);
constexpr char kInsteadRegister[] = "; register the hook for createRuntime as well: that call then traces init instead";
constexpr char kSharedFile[] = ": the program is an entry of crun's cache, which other containers share";
constexpr char kSpeculation[] =
    "crun sets SECCOMP_FILTER_FLAG_SPEC_ALLOW, a host layer does not, and on this kernel the flag leaves speculation "
    "mitigations off";

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// --config FILE or --config=FILE, the last one; "" when an argument could be another spelling of it (getopt_long takes
// any unambiguous beginning).
std::string configuration_of(const std::vector<std::string>& args) {
  std::string path = bundle::kSettingsPath;
  for (std::size_t i = 1; i < args.size(); ++i) {
    if (args[i] == "--receipts")
      ++i;  // the next word is its value, whatever that looks like
    else if (args[i] == "--config" && i + 1 < args.size())
      path = args[++i];
    else if (args[i].starts_with("--config="))
      path = args[i].substr(args[i].find('=') + 1);
    else if (args[i].starts_with("--c") || (args[i].starts_with("--r") && !args[i].starts_with("--receipts=")))
      return {};
  }
  return path;
}

// A file of that name that only root can have put there, and the one that init has open.
Result<void> check_trust(const install::ProgramFile& file) {
  TRY_ASSIGN(const bundle::TrustedFile named, bundle::read_trusted_file(file.path(), kMaxProgramBytes));
  if (named.identity.device == file.device() && named.identity.inode == file.inode()) return {};
  return failure(Errc::refused, file.path() + ": is not the file that init has open");
}

// What crun runs.
Result<bundle::Config> runtimes_config(const install::ProgramFile& file, const std::string& bundle) {
  Diagnostics ignored;
  const std::string path = bundle + "/config.json";
  TRY_ASSIGN(const bundle::TrustedFile config, bundle::read_trusted_file(path, read::kMaxInputBytes));
  TRY_ASSIGN(const bundle::TrustedFile copy,
             bundle::read_trusted_file(folder_of(file.path()) + "/config.json", read::kMaxInputBytes));
  if (copy.bytes != config.bytes) return failure(Errc::refused, path + ": is not what crun runs");
  return bundle::parse_config(config.bytes, path, ignored);
}

bool has_cache(const install::ProgramFile& file) {
  struct ::stat status {};
  return ::lstat((folder_of(folder_of(file.path())) + "/.cache/seccomp").c_str(), &status) == 0;
}

std::string obstacle_to(const install::Identity& init, const install::ProgramFile& file) {
  if (!install::in_user_namespace_of(init.pid)) return "the container has a user namespace of its own";
  const Result<bool> shared = file.shared();
  if (!shared) return to_string(shared.error());
  if (*shared || has_cache(file)) return file.path() + kSharedFile;
  if (install::filters_change_speculation_of_a_child()) return kSpeculation;
  return {};
}

}  // namespace

bool is_this_hook(const bundle::RegisteredHook& hook, const std::string& settings_path) {
  struct ::stat theirs {
  }, ours{};
  return ::stat(hook.path.c_str(), &theirs) == 0 && ::stat("/proc/self/exe", &ours) == 0 &&
         theirs.st_dev == ours.st_dev && theirs.st_ino == ours.st_ino && configuration_of(hook.args) == settings_path;
}

bool is_registered(const bundle::Config& config, bool inside, const std::string& settings_path) {
  return std::any_of(config.hooks.begin(), config.hooks.end(), [&](const bundle::RegisteredHook& hook) {
    return (hook.stage == "createContainer") == inside && is_this_hook(hook, settings_path);
  });
}

namespace {

// The container's mounts lie below its root, and the second call is looked for and run where they are. "" when none can
// lie over what that call is and begins with.
std::string covered_by_root(const bundle::Config& config, const bundle::State& state,
                            const std::string& settings_path) {
  const std::string root = config.root_path.starts_with('/') ? config.root_path : state.bundle + "/" + config.root_path;
  std::vector<std::string> paths{"/proc", settings_path};
  for (const bundle::RegisteredHook& hook : config.hooks)
    if (hook.stage == "createContainer" && is_this_hook(hook, settings_path)) paths.push_back(hook.path);
  for (const std::string& path : paths)
    if (install::leads_through(path, root))
      return "what is mounted into the container could lie over " + path + ": its root is " + root +
             ", or the path has a symbolic link in it";
  return {};
}

}  // namespace

HandOver hand_over(const install::Identity& init, const bundle::State& state, const std::string& settings_path) {
  const auto file = install::ProgramFile::find(init, state.id);
  if (!file) return {.obstacle = to_string(file.error())};
  if (!*file) return {.obstacle = "init has no program file open"};
  const Result<void> trusted = check_trust(**file);
  if (!trusted) return {.obstacle = to_string(trusted.error())};
  const Result<bundle::Config> config = runtimes_config(**file, state.bundle);
  if (!config) return {.obstacle = to_string(config.error())};
  if (!is_registered(*config, true, settings_path))
    return {.obstacle = "the hook is not registered for that stage", .registered = false};
  if (std::string covered = covered_by_root(*config, state, settings_path); !covered.empty())
    return {.obstacle = std::move(covered)};
  return {.obstacle = obstacle_to(init, **file)};
}

Result<install::ProgramFile> program_file(const install::Identity& init, const std::string& container,
                                          bool unconfined) {
  if (init.runtime != abi::Runtime::crun)
    return failure(Errc::refused,
                   std::string("runc keeps no program file that createContainer could rewrite") + kInsteadRegister);
  if (unconfined)
    return failure(Errc::refused, std::string("the container has no linux.seccomp, so crun has no program to rewrite") +
                                      kInsteadRegister);
  TRY_ASSIGN(std::optional<install::ProgramFile> file, install::ProgramFile::find(init, container));
  if (!file)
    return failure(Errc::refused, "config.json has linux.seccomp, but crun's init has no " + container +
                                      "/seccomp.bpf open, so it will not install one");
  TRY(check_trust(*file));
  TRY_ASSIGN(const bool shared, file->shared());
  if (shared) return failure(Errc::refused, file->path() + kSharedFile + kInsteadRegister);
  return std::move(*file);
}

Result<std::uint32_t> fixed_flags(std::uint32_t container, const std::vector<std::uint32_t>& host,
                                  bool (*changes_speculation)(), std::vector<std::string>& notes) {
  const std::uint32_t lost = container & ~merge_flags(container, host, notes);
  if ((lost & SECCOMP_FILTER_FLAG_SPEC_ALLOW) != 0 && changes_speculation())
    return failure(Errc::refused, std::string(kSpeculation) + kInsteadRegister);
  if ((lost & SECCOMP_FILTER_FLAG_LOG) != 0)
    notes.back() = "FILTER_FLAG_LOG stays, since crun sets the flags: the other layers' verdicts are logged too";
  return container;
}

}  // namespace seccompress::hooks
