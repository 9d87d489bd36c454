// SPDX-License-Identifier: Apache-2.0
// Input: the State JSON on stdin, config.yaml, the bundle. Output: an armed tracer, or a refusal. Entry point:
// run_hook.
// The order is the argument: `disabled` first (root's way out, also of a broken configuration), settings before the
// container's words (a broken configuration refuses everything), identity before any work, everything that can fail
// before the tracer, and the bundle looked at again after it.
// on_failure: runtime-profile covers what we fail to make (layers, program, proof, tracer), never what must not
// be served at all (a foreign pid, ambiguous keys, a changed bundle, exec sessions that nobody covers).
#include "hook.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "bundle/config.h"
#include "bundle/state.h"
#include "bundle/trusted_file.h"
#include "install/tracer.h"
#include "plan.h"
#include "record.h"
#include "support/clock.h"
#include "support/file.h"
#include "support/sha256.h"

namespace seccompress::hooks {
namespace {

constexpr std::size_t kMaxNotes = 20;

// The process that started the runtime, by the name it gives itself: for the log only.
std::string engine_of(pid_t init) {
  const auto init_stat = install::read_stat(init);
  const auto runtime = init_stat ? install::read_stat(init_stat->parent) : init_stat;
  const auto engine = runtime ? install::read_stat(runtime->parent) : runtime;
  return engine ? engine->comm : std::string();
}

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
    TRY_ASSIGN(const bool disabled, is_disabled());
    const Result<void> settings = read_settings();
    if (disabled) return leave_alone("disabled", "there is a file 'disabled' beside " + options_.settings_path);
    TRY(settings);
    TRY(read_state());
    TRY_ASSIGN(const bool again, identify());
    if (again) return {};
    TRY(cover_exec());
    TRY_ASSIGN(const bundle::Snapshot snapshot, bundle::Snapshot::take(state_.bundle));
    TRY_ASSIGN(bundle::Config config, bundle::parse_config(snapshot.bytes(), snapshot.path(), diagnostics_));
    config.annotations.insert(state_.annotations.begin(), state_.annotations.end());
    record_.no_new_privs = config.no_new_privs;
    const bool bpf_annotation = record_.runtime == "crun" && config.annotations.contains("run.oci.seccomp_bpf_data");
    const bool unconfined = !config.has_seccomp && !bpf_annotation;
    if (unconfined && settings_.unconfined == bundle::Unconfined::skip)
      return leave_alone("skipped", "the container has no linux.seccomp and apply.unconfined is `skip`");
    if (unconfined && settings_.layers_for(config.annotations).empty())
      return leave_alone("skipped", "the container has no linux.seccomp, and no host layer is for it");
    return serve(snapshot, std::move(config), unconfined);
  }

  Result<void> read_settings() {
    TRY_ASSIGN(const bundle::TrustedFile file,
               bundle::read_trusted_file(options_.settings_path, bundle::kMaxSettingsBytes));
    TRY_ASSIGN(settings_, bundle::parse_settings(file.bytes, options_.settings_path, diagnostics_));
    may_fail_ = observing();  // whatever is wrong with a container is then only said
    mark_ = "scmp-" + sha256(options_.settings_path + '\0' + file.bytes).substr(0, 10);
    if (settings_.log.empty()) return {};
    TRY_ASSIGN(UniqueFd log, bundle::open_trusted_log(settings_.log));
    log_.use_file(std::move(log));
    return {};
  }

  Result<bool> is_disabled() const {
    return bundle::trusted_file_exists(options_.settings_path.substr(0, options_.settings_path.rfind('/') + 1) +
                                       "disabled");
  }

  Result<void> read_state() {
    TRY_ASSIGN(const std::string text, read_fd(STDIN_FILENO, "the container state on stdin", bundle::kMaxStateBytes));
    TRY_ASSIGN(state_, bundle::parse_state(text, diagnostics_));
    record_.container = state_.id;
    record_.pid = state_.pid;
    return {};
  }

  // true: an earlier call of this hook for this container (prestart and createRuntime both registered) serves it.
  Result<bool> identify() {
    TRY_ASSIGN(identity_, install::identify(state_.pid));
    record_.runtime = abi::to_string(identity_.runtime);
    record_.start_time = identity_.start_time;
    record_.inherited_filters = identity_.inherited;
    record_.engine = engine_of(state_.pid);
    if (identity_.tracer == 0) return false;
    if (install::traced_by_our_own(identity_, mark_)) return true;
    return failure(Errc::refused, "process " + std::to_string(identity_.pid) + " is already traced by process " +
                                      std::to_string(identity_.tracer) +
                                      ", which is not this hook with this configuration");
  }

  Result<void> cover_exec() const {
    if (settings_.exec == bundle::ExecSessions::accept || observing()) return {};
    return failure(
        Errc::refused,
        options_.settings_path +
            ": `exec: cover` asks for exec sessions under the merged program, and no hook runs for them: this "
            "route cannot cover them. podman's precreate hook, crun's createContainer hook and the runtime "
            "wrapper can; or write `exec: accept`: sessions then run under the runtime's own profile alone");
  }

  Result<void> leave_alone(const char* outcome, std::string cause) {
    record_.outcome = outcome;
    record_.cause = std::move(cause);
    write_record();
    return {};
  }

  // From here on a failure is one of ours.
  Result<void> serve(const bundle::Snapshot& snapshot, bundle::Config config, bool unconfined) {
    may_fail_ = observing() || settings_.on_failure == bundle::OnFailure::runtime_profile;
    const bool no_new_privs = config.no_new_privs;
    PlanInput input{.settings = settings_,
                    .config = std::move(config),
                    .config_path = snapshot.path(),
                    .config_bytes = snapshot.bytes(),
                    .runtime = identity_.runtime,
                    .unconfined = unconfined};
    TRY_ASSIGN(std::unique_ptr<Plan> plan, Plan::make(std::move(input), diagnostics_));
    note_warnings(snapshot.path());
    if (!plan->predicted_unmet().empty() && !observing())
      return failure(Errc::refused, plan->predicted_unmet().front());
    record_.milliseconds_hook = monotonic_milliseconds() - start_;
    TRY_ASSIGN(const pid_t tracer, install::start_tracer(make_job(std::move(plan), no_new_privs, unconfined)));
    may_fail_ = observing();
    Result<void> unchanged = snapshot.unchanged();
    if (!unchanged) stop(tracer);
    return unchanged;
  }

  // A host layer that was read with a warning (a directive or a name that nobody knows) may be weaker than its author
  // believes: the record says so.
  void note_warnings(const std::string& config_path) {
    for (const Diagnostic& diagnostic : diagnostics_.all()) {
      if (diagnostic.severity != Severity::warning || diagnostic.where.file == config_path) continue;
      if (record_.notes.size() == kMaxNotes) break;
      record_.notes.push_back(to_string(diagnostic));
    }
  }

  install::Job make_job(std::shared_ptr<Plan> plan, bool no_new_privs, bool unconfined) {
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
    job.report = [this](const install::Ending& ending) { report(ending); };
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
  std::string mark_;
  bool may_fail_ = false;
};

// A hook starts with whatever the runtime had: no descriptor but 0-2, no environment, no default SIGPIPE death
// when the runtime does not read our stderr.
bool clean_process() {
  if (::syscall(SYS_close_range, 3U, ~0U, 0U) != 0) return false;
  for (int fd = 0; fd < 3; ++fd)
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR | O_CLOEXEC) != fd) return false;
  ::signal(SIGPIPE, SIG_IGN);
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
