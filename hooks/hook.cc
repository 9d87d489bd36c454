// SPDX-License-Identifier: Apache-2.0
// Input: the State JSON on stdin, config.yaml, the bundle. Output: an armed tracer, a rewritten program file, or a
// refusal. Entry point: run_hook.
// Two routes (README.md): a tracer at init's install call, or, in crun's createContainer stage, the file from which
// init will install. Everything but the last step is the same. The order is the argument: `disabled` first (root's way
// out, also of a broken configuration), settings before the container's words (a broken configuration refuses
// everything), identity before any work, everything that can fail before the tracer, and the bundle looked at again
// after it. on_failure: runtime-profile covers what we fail to make (layers, program, proof, tracer), never what must
// not be served at all (a foreign pid, ambiguous keys, a changed bundle, exec sessions that nobody covers).
#include "hook.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "bundle/config.h"
#include "bundle/ownership.h"
#include "bundle/state.h"
#include "bundle/trusted_file.h"
#include "create_container.h"
#include "install/fault_point.h"
#include "install/outside.h"
#include "install/program_file.h"
#include "install/self.h"
#include "install/tracer.h"
#include "plan.h"
#include "record.h"
#include "support/clock.h"
#include "support/file.h"
#include "support/sha256.h"

namespace seccompress::hooks {
namespace {

constexpr std::size_t kMaxNotes = 20;
constexpr char kMarkBegin[] = "scmp-";
constexpr char kTraceRoute[] = "ptrace-hook", kFileRoute[] = "create-container";

// The process that started the runtime, by the name it gives itself: for the log only.
std::string engine_of(pid_t init) {
  const auto init_stat = install::read_stat(init);
  const auto runtime = init_stat ? install::read_stat(init_stat->parent) : init_stat;
  const auto engine = runtime ? install::read_stat(runtime->parent) : runtime;
  return engine ? engine->comm : std::string();
}

constexpr char kCovered[] =
    " (if it is: it left this container alone, and something is mounted over the configuration or a folder above it, "
    "so that this call cannot know; keep the configuration on the root file system)";

class Hook {
 public:
  explicit Hook(const Options& options) : options_(options), start_(monotonic_milliseconds()) {}

  int run() {
    const Result<void> done = start();
    if (done) return 0;
    std::string cause = explain(done.error());
    record_.cause = cause;
    if (may_fail_) return go_on_unmerged(cause);
    record_.outcome = "refused";
    write_record();
    std::fprintf(stderr, "seccompress-hook: error: %s\n", cause.c_str());
    return 1;
  }

 private:
  bool observing() const { return settings_.mode == bundle::Mode::observe; }

  Result<void> start() {
    const Result<void> state = read_state();
    if (state && state_.inside()) {
      TRY(install::check_proc());
      TRY_ASSIGN(identity_, calling_init());
      if (!install::in_user_namespace_of(install::parent_of(identity_))) return leave_to_the_outer_call();
      TRY(install::look_from_outside(identity_));
    }
    // Who writes annotations can make a state that cannot be read, and then nobody knows whose view this is.
    if (!state && is_covered()) return tl::unexpected(state.error());
    const Result<bool> disabled = is_disabled();
    if (!disabled) return unbelievable(state, disabled.error());
    const Result<void> settings = read_settings();
    if (*disabled) return leave_alone("disabled", "there is a file 'disabled' beside " + options_.settings_path);
    if (!settings) return unbelievable(state, settings.error());
    TRY(state);
    TRY_ASSIGN(const bool again, identify());
    if (again) return {};
    TRY_ASSIGN(const bundle::Snapshot snapshot, bundle::Snapshot::take(state_.bundle));
    TRY_ASSIGN(bundle::Config config, bundle::parse_config(snapshot.bytes(), snapshot.path(), diagnostics_));
    config.annotations.insert(state_.annotations.begin(), state_.annotations.end());
    record_.no_new_privs = config.no_new_privs;
    const bool unconfined = is_unconfined(config, record_.runtime);
    if (unconfined) TRY(check_unconfined());
    if (std::string why = unconfined ? why_skipped(config) : ""; !why.empty())
      return leave_alone("skipped", std::move(why));
    TRY_ASSIGN(const bool handed_over, choose_route(unconfined));
    if (handed_over) return {};
    return serve(snapshot, std::move(config), unconfined);
  }

  static bool is_unconfined(const bundle::Config& config, std::string_view runtime) {
    const bool bpf_annotation = runtime == "crun" && config.annotations.contains("run.oci.seccomp_bpf_data");
    return !config.has_seccomp && !bpf_annotation;
  }

  // crun opens a program file for containers that have a profile only: one there means that config.json is not what
  // crun read, and no layer is left out on its word.
  Result<void> check_unconfined() const {
    if (identity_.runtime != abi::Runtime::crun) return {};
    TRY_ASSIGN(const auto file, install::ProgramFile::find(identity_, state_.id));
    if (!file) return {};
    return failure(Errc::refused, "config.json has no linux.seccomp, but crun's init will install " + file->path());
  }

  std::string why_skipped(const bundle::Config& unconfined) const {
    if (settings_.unconfined == bundle::Unconfined::skip)
      return "the container has no linux.seccomp and apply.unconfined is `skip`";
    if (settings_.layers_for(unconfined.annotations).empty())
      return "the container has no linux.seccomp, and no host layer is for it";
    return {};
  }

  Result<void> read_settings() {
    TRY_ASSIGN(const bundle::TrustedFile file,
               bundle::read_trusted_file(options_.settings_path, bundle::kMaxSettingsBytes));
    TRY_ASSIGN(settings_, bundle::parse_settings(file.bytes, options_.settings_path, diagnostics_));
    settings_sha256_ = sha256(file.bytes);
    may_fail_ = observing();  // whatever is wrong with a container is then only said
    mark_ = kMarkBegin + sha256(options_.settings_path + '\0' + file.bytes).substr(0, 10);
    if (settings_.log.empty()) return {};
    Result<UniqueFd> log = bundle::open_trusted_log(settings_.log);
    // Root's log is not for a user's engine to write to. syslog(3) has its records all the same.
    const bool denied = !log && (log.error().code == std::errc::permission_denied || !can_trace());
    if (denied && bundle::is_rootless()) {
      record_.notes.push_back("recorded in syslog only: " + to_string(log.error()));
      return {};
    }
    TRY_ASSIGN(UniqueFd file_log, std::move(log));
    log_.use_file(std::move(file_log));
    return {};
  }

  std::string disabled_path() const {
    return options_.settings_path.substr(0, options_.settings_path.rfind('/') + 1) + "disabled";
  }
  Result<bool> is_disabled() const { return bundle::trusted_file_exists(disabled_path()); }

  Result<void> read_state() {
    TRY_ASSIGN(const std::string text, read_fd(STDIN_FILENO, "the container state on stdin", bundle::kMaxStateBytes));
    TRY_ASSIGN(state_, bundle::parse_state(text, diagnostics_));
    record_.container = state_.id;
    record_.pid = state_.pid;
    record_.route = state_.inside() ? kFileRoute : kTraceRoute;
    return {};
  }

  // Root's files are not root's there, so nothing can be trusted, but who traces init is a fact of the kernel's.
  // Without a tracer the container goes on only where the configuration says that the createRuntime call left it alone.
  Result<void> leave_to_the_outer_call() {
    if (install::traced_by_one_of_us(identity_, kMarkBegin) || left_alone_outside()) return {};
    return failure(Errc::refused,
                   "the container has a user namespace of its own, in which root's configuration cannot be trusted: "
                   "register the hook for createRuntime as well; that call then traces init" +
                       std::string(is_covered() ? kCovered : ""));
  }

  // What the container mounts over the configuration would decide. There is no way to the host's view from here.
  bool is_covered() const {
    return install::is_mounted_over(disabled_path()) || install::is_mounted_over(options_.settings_path);
  }

  bool left_alone_outside() {
    if (is_covered()) return false;
    struct ::stat status {};
    if (::stat(disabled_path().c_str(), &status) == 0) return true;
    const auto text = read_file(options_.settings_path, bundle::kMaxSettingsBytes);
    auto settings = text ? bundle::parse_settings(*text, options_.settings_path, diagnostics_) : reported();
    if (!settings) return false;
    settings_ = std::move(*settings);
    if (observing() || settings_.on_failure == bundle::OnFailure::runtime_profile) return true;
    const auto snapshot = bundle::Snapshot::take(state_.bundle);
    auto config = snapshot ? bundle::parse_config(snapshot->bytes(), snapshot->path(), diagnostics_) : reported();
    if (!config) return false;
    config->annotations.insert(state_.annotations.begin(), state_.annotations.end());
    return is_unconfined(*config, "crun") && !why_skipped(*config).empty();
  }

  Result<install::Identity> calling_init() const {
    auto init = install::identify_parent();
    if (!init)
      init.error().what = "the state's pid is " + std::to_string(state_.pid) +
                          ", as in a stage inside the container, but " + init.error().what;
    return init;
  }

  // true: an earlier call of this hook for this container (prestart and createRuntime both registered) serves it.
  Result<bool> identify() {
    if (!state_.inside()) {  // else it is known already
      TRY_ASSIGN(identity_, install::identify(state_.pid));
    }
    record_.pid = identity_.pid;
    record_.runtime = abi::to_string(identity_.runtime);
    record_.start_time = identity_.start_time;
    record_.inherited_filters = identity_.inherited;
    record_.engine = engine_of(identity_.pid);
    if (identity_.tracer == 0) return false;
    if (install::traced_by_our_own(identity_, mark_)) return true;
    return failure(Errc::refused, "process " + std::to_string(identity_.pid) + " is already traced by process " +
                                      std::to_string(identity_.tracer) +
                                      ", which is not this hook with this configuration");
  }

  // true: crun will call this hook again, as createContainer, and that call serves the container.
  Result<bool> choose_route(bool unconfined) {
    if (state_.inside()) return false;
    HandOver next{.obstacle = "the container has no linux.seccomp", .registered = false};
    if (identity_.runtime == abi::Runtime::crun && !unconfined)
      next = hand_over(identity_, state_, options_.settings_path);
    if (next.obstacle.empty()) return true;
    if (next.registered) record_.notes.push_back("not by crun's createContainer call: " + next.obstacle);
    TRY(may_trace());
    TRY(cover_exec(next.obstacle));
    return false;
  }

  // Settings that are wrong; where the kernel forbids what they ask for, mending them would not help.
  Result<void> unbelievable(const Result<void>& state, const Error& error) {
    if (state && !state_.inside()) TRY(may_trace());
    return tl::unexpected(error);
  }

  // A runtime that an ordinary user starts in the initial user namespace: its init's memory belongs to that namespace,
  // where neither the user nor a hook of his has CAP_SYS_PTRACE (kernel: ptrace_may_access, mm->user_ns).
  static bool can_trace() { return !bundle::is_rootless() || install::has_cap_sys_ptrace(); }
  Result<void> may_trace() {
    if (can_trace()) return {};
    may_fail_ = observing() || settings_.on_failure == bundle::OnFailure::runtime_profile;
    return failure(
        Errc::refused,
        "the kernel does not let this hook trace the container: it runs as an ordinary user, outside the "
        "user namespace that the container has for itself; start the runtime inside a user namespace (podman "
        "does, or `unshare --user --map-root-user --mount`), or as root");
  }

  Result<void> cover_exec(const std::string& obstacle) const {
    if (settings_.exec == bundle::ExecSessions::accept || observing()) return {};
    const std::string why = identity_.runtime == abi::Runtime::crun ? " (here: " + obstacle + ")" : "";
    return failure(
        Errc::refused,
        options_.settings_path +
            ": `exec: cover` asks for exec sessions under the merged program, and no hook runs for them: this "
            "route cannot cover them. podman's precreate hook, crun's createContainer hook" +
            why + " and the runtime wrapper can; or write `exec: accept`: sessions then run under the runtime's own " +
            "profile alone");
  }

  Result<void> leave_alone(const char* outcome, std::string cause) {
    return state_.inside() && registered_outside() ? Result<void>() : end(outcome, std::move(cause));
  }

  Result<void> end(const char* outcome, std::string cause) {
    record_.outcome = outcome;
    record_.cause = std::move(cause);
    write_record();
    return {};
  }

  // The createRuntime call has said already that it left the container alone: one record a start.
  bool registered_outside() const {
    Diagnostics ignored;
    const auto snapshot = bundle::Snapshot::take(state_.bundle);
    const auto config = snapshot ? bundle::parse_config(snapshot->bytes(), snapshot->path(), ignored) : reported();
    return config && is_registered(*config, false, options_.settings_path);
  }

  // From here on a failure is one of ours.
  Result<void> serve(const bundle::Snapshot& snapshot, bundle::Config config, bool unconfined) {
    may_fail_ = observing() || settings_.on_failure == bundle::OnFailure::runtime_profile;
    std::optional<install::ProgramFile> file;
    if (state_.inside()) {
      TRY_ASSIGN(file, program_file(identity_, state_.id, unconfined));
      TRY_ASSIGN(const bool again, is_written(*file));
      if (again) return {};
    }
    const bool no_new_privs = config.no_new_privs;
    PlanInput input{.settings = settings_,
                    .config = std::move(config),
                    .config_path = snapshot.path(),
                    .config_bytes = snapshot.bytes(),
                    .runtime = identity_.runtime,
                    .prepared = {},
                    .unconfined = unconfined,
                    .flags_fixed = file.has_value(),
                    .receipts = options_.receipts};
    TRY_ASSIGN(input.prepared, find_prepared(options_.settings_path, settings_sha256_,
                                             receipt::Cache(options_.receipts), record_.notes));
    record_.prepared = input.prepared.has_value();
    if (input.prepared) note_all(input.prepared->warnings);
    TRY_ASSIGN(std::unique_ptr<Plan> plan, make_plan(std::move(input)));
    note_warnings(snapshot.path());
    if (!plan->predicted_unmet().empty() && !observing())
      return failure(Errc::refused, plan->predicted_unmet().front());
    record_.milliseconds_hook = monotonic_milliseconds() - start_;
    if (file) return rewrite(*file, *plan, snapshot);
    TRY_ASSIGN(const pid_t tracer, install::start_tracer(make_job(std::move(plan), no_new_privs, unconfined)));
    may_fail_ = observing();
    Result<void> unchanged = snapshot.unchanged();
    if (!unchanged) stop(tracer);
    return unchanged;
  }

  // The hook registered twice for this stage: the earlier call signed what it wrote.
  Result<bool> is_written(const install::ProgramFile& file) const {
    const std::string author = file.author();
    if (author.empty() || author == mark_) return !author.empty();
    return failure(Errc::refused, file.path() + ": written by this hook with another configuration already");
  }

  Result<void> rewrite(install::ProgramFile& file, Plan& plan, const bundle::Snapshot& snapshot) {
    TRY_ASSIGN(const install::Attempt attempt, attempt_of(file, plan.predicted_flags()));
    install::fault_point("file-read");
    const double start = monotonic_milliseconds();
    const install::Decision decision = plan.decide(attempt, record_);
    record_.milliseconds_composing = monotonic_milliseconds() - start;
    install::fault_point("file-decided");
    if (decision.kind == install::Decision::Kind::refuse) return failure(Errc::refused, decision.why);
    if (decision.kind == install::Decision::Kind::let_through)
      return end(observing() ? "observed" : "let-through", decision.why);
    const bool could_fail = std::exchange(may_fail_, false);
    TRY(snapshot.unchanged());
    TRY(install::still_the_same(identity_));
    Result<void> written = file.replace(*decision.program);
    may_fail_ = could_fail && file.restore().has_value();
    if (!written) return written;
    file.sign(mark_);
    install::fault_point("file-signed");
    plan.keep();
    note_all(plan.keeping_notes());
    return end("installed", {});
  }

  static Result<install::Attempt> attempt_of(install::ProgramFile& file, std::uint32_t flags) {
    install::Attempt attempt;
    attempt.kind = install::CallKind::install_seccomp;
    attempt.flags = flags;
    TRY_ASSIGN(attempt.code, file.read());
    return attempt;
  }

  // A host layer that was read with a warning (a directive or a name that nobody knows) may be weaker than its author
  // believes: the record says so.
  void note_warnings(const std::string& config_path) {
    std::vector<std::string> warnings;
    for (const Diagnostic& diagnostic : diagnostics_.all())
      if (diagnostic.severity == Severity::warning && diagnostic.where.file != config_path)
        warnings.push_back(to_string(diagnostic));
    note_all(warnings);
  }

  void note_all(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      if (record_.notes.size() == kMaxNotes) return;
      if (std::find(record_.notes.begin(), record_.notes.end(), text) == record_.notes.end())
        record_.notes.push_back(text);
    }
  }

  // A refusal has to name layer and rule, which one prepared program cannot: then the layers themselves are read.
  Result<std::unique_ptr<Plan>> make_plan(PlanInput input) {
    PlanInput plain = input;
    const bool prepared = input.prepared.has_value();
    TRY_ASSIGN(std::unique_ptr<Plan> plan, Plan::make(std::move(input), diagnostics_));
    if (!prepared || plan->predicted_unmet().empty()) return plan;
    record_.prepared = false;
    plain.prepared.reset();
    return Plan::make(std::move(plain), diagnostics_);
  }

  install::Job make_job(const std::shared_ptr<Plan>& plan, bool no_new_privs, bool unconfined) {
    install::Job job;
    job.identity = std::move(identity_);
    job.mark = mark_;
    job.timeout = settings_.install_timeout;
    job.no_new_privs = no_new_privs;
    job.inject = unconfined;
    job.observe = observing();
    job.decide = [this, plan, base = record_](const install::Attempt& attempt) {
      const double start = monotonic_milliseconds();
      record_ = base;
      install::Decision decision = plan->decide(attempt, record_);
      record_.milliseconds_composing = monotonic_milliseconds() - start;
      return decision;
    };
    job.report = [this, plan](const install::Ending& ending) {
      if (ending.kind == install::Ending::Kind::installed || observing()) plan->keep();
      note_all(plan->keeping_notes());
      report(ending);
    };
    return job;
  }

  // In the tracer, after detach or kill.
  void report(const install::Ending& ending) {
    using Kind = install::Ending::Kind;
    const bool left = ending.kind == Kind::let_through;
    record_.outcome = ending.kind == Kind::installed ? "installed"
                      : observing()                  ? "observed"
                      : left                         ? "let-through"
                                                     : "killed";
    if (!ending.why.empty()) record_.cause = ending.why;
    record_.stops = ending.stops;
    record_.bytes_compared = ending.bytes_compared;
    record_.milliseconds_tracing = ending.milliseconds;
    log_.write(record_);
  }

  void stop(pid_t tracer) {
    ::kill(tracer, SIGKILL);  // EXITKILL ends init with it
    ::waitpid(tracer, nullptr, 0);
  }

  std::string explain(const Error& error) const {
    if (error.code != Errc::reported) return to_string(error);
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics_.all())
      if (diagnostic.severity == Severity::error) text += (text.empty() ? "" : "\n") + to_string(diagnostic);
    return text;
  }

  int go_on_unmerged(const std::string& cause) {
    record_.outcome = observing() ? "observed" : "let-through";
    record_.notes.emplace_back("the container runs under its runtime's own profile");
    write_record();
    std::fprintf(stderr, "seccompress-hook: warning: %s\n", cause.c_str());
    return 0;
  }

  void write_record() {
    if (record_.milliseconds_hook == 0) record_.milliseconds_hook = monotonic_milliseconds() - start_;
    log_.write(record_);
  }

  Options options_;
  double start_;
  Diagnostics diagnostics_;
  Record record_;
  Log log_;
  bundle::Settings settings_;
  bundle::State state_;
  install::Identity identity_;
  std::string mark_, settings_sha256_;
  bool may_fail_ = false;
};

// A hook starts with whatever the runtime had: no descriptor but 0-2, no environment, no default SIGPIPE death
// when the runtime does not read our stderr.
bool clean_process() {
  if (::syscall(SYS_close_range, 3U, ~0U, 0U) != 0) return false;
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR | O_CLOEXEC) != fd) return false;
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // the container's own limit on file sizes: EFBIG can be reported
  return ::clearenv() == 0;
}

}  // namespace

int run_hook(const Options& options) {
  if (!clean_process()) {
    std::fputs("seccompress-hook: error: descriptors and environment could not be cleaned\n", stderr);
    return 1;
  }
  return Hook(options).run();
}

}  // namespace seccompress::hooks
