// SPDX-License-Identifier: Apache-2.0
// Input: what a container shall be. Output: how long the runtime took, what the container printed. Entry points:
// ContainerGround::bundle, run. Method: an empty root with the host's /usr, /etc and the ground's own folder mounted
// read-only, /tmp in memory; no network, cgroups as the runtime makes them (crun: none; 1.8 refuses hybrid hosts).
#include "bench/container.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "host/spawn.h"
#include "support/clock.h"
#include "support/file.h"

namespace seccompress::bench {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::size_t kMaxProgramBytes = std::size_t{256} << 20, kMaxLogBytes = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kDeleting{20'000};
// docker's 14 without those that only some machines know.
constexpr const char* kCapabilities[] = {"CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER",
                                         "CAP_KILL",  "CAP_SETGID",       "CAP_SETUID"};

Json read_only(const std::string& path) {
  return {{"destination", path}, {"type", "bind"}, {"source", path}, {"options", {"rbind", "ro"}}};
}

bool is_crun(const std::string& runtime) { return fs::path(runtime).filename() == "crun"; }

Result<void> make_root(const std::string& root) {
  std::error_code error;
  for (const char* name : {"proc", "dev", "sys", "tmp", "usr", "etc"}) fs::create_directories(root + '/' + name, error);
  for (const char* name : {"bin", "sbin", "lib", "lib64"}) {  // links into /usr, as Debian has them
    if (fs::is_symlink(std::string("/") + name))
      fs::create_symlink(std::string("usr/") + name, root + '/' + name, error);
    if (error) break;
  }
  if (error) return failure(error, root);
  return {};
}

// A mount namespace of our own, without cgroup v2's hierarchy where v1's are there too: crun 1.8.1 refuses such hosts
// as soon as v2 has a controller. Where it does not work the runtime says so itself.
void leave_hybrid_cgroups() {
  if (::unshare(CLONE_NEWNS) != 0 || ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return;
  ::umount2("/sys/fs/cgroup/unified", MNT_DETACH);
}

}  // namespace

Result<std::unique_ptr<ContainerGround>> ContainerGround::make() {
  if (::geteuid() != 0) return failure(Errc::refused, "containers are measured as root only");
  leave_hybrid_cgroups();
  std::string folder = "/var/lib/seccompress-bench.XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) return errno_failure(folder);
  std::unique_ptr<ContainerGround> ground(new ContainerGround(folder));
  if (::chmod(folder.c_str(), 0755) != 0) return errno_failure(folder);
  TRY(make_root(folder + "/root"));
  ground->show("/usr");
  ground->show("/etc");
  return ground;
}

ContainerGround::~ContainerGround() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);  // mounts are in the containers' namespaces only
}

Result<std::string> ContainerGround::write(const std::string& name, std::string_view bytes, unsigned mode) {
  const std::string path = folder_ + '/' + name;
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  if (error) return failure(error, path);
  TRY(write_file_atomically(path, bytes, mode));
  return path;
}

Result<std::string> ContainerGround::copy(const std::string& file, const std::string& name) {
  TRY_ASSIGN(const std::string bytes, read_file(file, kMaxProgramBytes));
  return write(name, bytes, 0755);
}

std::string ContainerGround::config(const ContainerOptions& options) const {
  Json mounts = Json::array(
      {{{"destination", "/proc"}, {"type", "proc"}, {"source", "proc"}},
       {{"destination", "/dev"}, {"type", "tmpfs"}, {"source", "tmpfs"}, {"options", {"nosuid", "mode=755"}}},
       {{"destination", "/tmp"}, {"type", "tmpfs"}, {"source", "tmpfs"}}});
  for (const std::string& folder : shown_) mounts.push_back(read_only(folder));
  mounts.push_back(read_only(folder_));
  Json namespaces = Json::array();
  for (const char* type : {"pid", "ipc", "uts", "mount", "network"}) namespaces.push_back({{"type", type}});
  Json capabilities = Json::object();
  for (const char* set : {"bounding", "effective", "permitted"}) capabilities[set] = kCapabilities;
  Json config{{"ociVersion", "1.0.2"},
              {"root", {{"path", folder_ + "/root"}}},
              {"process",
               {{"terminal", false},
                {"args", options.arguments},
                {"cwd", "/"},
                {"env", {"PATH=/usr/sbin:/usr/bin:/sbin:/bin"}},
                {"user", {{"uid", 0}, {"gid", 0}}},
                {"capabilities", capabilities},
                {"noNewPrivileges", options.no_new_privs}}},
              {"mounts", mounts},
              {"linux", {{"namespaces", namespaces}}}};
  if (options.profile) config["linux"]["seccomp"] = Json::parse(*options.profile, nullptr, false);
  if (!options.hook_stage.empty()) {
    Json arguments = Json::array({options.hook});
    for (const std::string& argument : options.hook_arguments) arguments.push_back(argument);
    config["hooks"][options.hook_stage] = Json::array({{{"path", options.hook}, {"args", arguments}}});
  }
  return config.dump(1);
}

Result<std::string> ContainerGround::bundle(const ContainerOptions& options) {
  const std::string name = "bundle" + std::to_string(bundles_++);
  TRY(write(name + "/config.json", config(options)));
  return folder_ + '/' + name;
}

Result<ContainerRun> ContainerGround::run(const std::string& runtime, const std::string& bundle,
                                          std::chrono::milliseconds deadline) {
  const std::string id = fs::path(folder_).extension().string().substr(1) + '-' + std::to_string(runs_++);
  const std::string log = folder_ + "/runtime.log";
  std::vector<std::string> common{"--root", folder_ + "/state", "--log", log};
  if (is_crun(runtime)) common.emplace_back("--cgroup-manager=disabled");
  std::error_code ignored;
  fs::remove(log, ignored);
  host::Command command{runtime, common};
  command.arguments.insert(command.arguments.end(), {"run", "--bundle", bundle, id});
  command.deadline = deadline;
  const double start = monotonic_milliseconds();
  auto finished = host::spawn(command);
  const double milliseconds = monotonic_milliseconds() - start;
  if (finished && finished->exit_code == 0) return ContainerRun{milliseconds, finished->output};
  host::Command removal{runtime, common};
  removal.arguments.insert(removal.arguments.end(), {"delete", "--force", id});
  removal.deadline = kDeleting;
  static_cast<void>(host::spawn(removal).has_value());
  const std::string said = read_file(log, kMaxLogBytes).value_or("");
  if (!finished) return failure(finished.error().code, finished.error().what + ": " + said);
  return failure(Errc::refused,
                 runtime + " ended with " + std::to_string(finished->exit_code) + ": " + said + finished->output);
}

std::optional<std::string> find_program(const std::string& name) {
  for (const char* folder : {"/usr/local/sbin/", "/usr/local/bin/", "/usr/sbin/", "/usr/bin/", "/sbin/", "/bin/"})
    if (::access((folder + name).c_str(), X_OK) == 0) return folder + name;
  return std::nullopt;
}

}  // namespace seccompress::bench
