// SPDX-License-Identifier: Apache-2.0
#include "support/libseccomp_build.h"

#include <fcntl.h>
#include <seccomp.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <vector>

#include "support/clock.h"
#include "support/file.h"
#include "support/unique_fd.h"

namespace seccompress::test {
namespace {

scmp_compare compare_of(policy::Operator op) {
  switch (op) {
    case policy::Operator::ne: return SCMP_CMP_NE;
    case policy::Operator::lt: return SCMP_CMP_LT;
    case policy::Operator::le: return SCMP_CMP_LE;
    case policy::Operator::eq: return SCMP_CMP_EQ;
    case policy::Operator::ge: return SCMP_CMP_GE;
    case policy::Operator::gt: return SCMP_CMP_GT;
    case policy::Operator::masked_eq: return SCMP_CMP_MASKED_EQ;
  }
  return SCMP_CMP_EQ;
}

bool add_rule(scmp_filter_ctx context, const policy::Policy& policy, const policy::Rule& rule) {
  if (rule.verdict == policy.default_verdict) return true;
  std::vector<scmp_arg_cmp> arguments;
  for (const policy::Condition& condition : rule.all_of)
    arguments.push_back({condition.index, compare_of(condition.op), condition.value, condition.value_two});
  for (const std::string& name : rule.names) {
    const int number = seccomp_syscall_resolve_name(name.c_str());
    if (number == __NR_SCMP_ERROR) continue;
    const int status = seccomp_rule_add_array(context, rule.verdict, number, static_cast<unsigned>(arguments.size()),
                                              arguments.empty() ? nullptr : arguments.data());
    if (status != 0) return false;  // -EEXIST too: the rule is then missing on every architecture
  }
  return true;
}

bool build(const policy::Policy& policy, LibseccompShape shape, int fd) {
  const scmp_filter_ctx context = seccomp_init(policy.default_verdict);
  if (context == nullptr) return false;
  if (seccomp_attr_set(context, SCMP_FLTATR_ACT_BADARCH, policy.bad_arch_verdict) != 0) return false;
  if (shape == LibseccompShape::tree && seccomp_attr_set(context, SCMP_FLTATR_CTL_OPTIMIZE, 2) != 0) return false;
  if (seccomp_arch_remove(context, SCMP_ARCH_NATIVE) != 0) return false;
  for (const abi::Arch arch : policy.architectures)
    if (seccomp_arch_add(context, abi::facts(arch).token) != 0) return false;
  for (const policy::Rule& rule : policy.rules)
    if (!add_rule(context, policy, rule)) return false;
  return seccomp_export_bpf(context, fd) == 0;
}

constexpr int kRounds = 5;  // the first ones mostly wait for memory

// Runs in the child; its output is what it writes to the descriptor.
using Work = std::function<bool(int fd)>;

[[noreturn]] void run_child(const Work& work, int fd, unsigned seconds) {
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  const rlimit limit{seconds, seconds};
  ::setrlimit(RLIMIT_CPU, &limit);  // CPU time, not a clock: a busy machine does not look like a hang
  ::_exit(work(fd) ? 0 : 1);
}

tl::expected<std::string, LibseccompFailure> output_of(const Work& work, unsigned seconds) {
  int ends[2];
  if (::pipe(ends) != 0) return tl::unexpected(LibseccompFailure::refused);
  const UniqueFd reader(ends[0]);
  UniqueFd writer(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return tl::unexpected(LibseccompFailure::refused);
  if (child == 0) run_child(work, writer.get(), seconds);
  writer.reset();
  auto bytes = read_fd(reader.get(), "libseccomp", std::size_t{16} << 20);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) return tl::unexpected(LibseccompFailure::hung);
  if (!bytes || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return tl::unexpected(LibseccompFailure::refused);
  return std::move(*bytes);
}

}  // namespace

tl::expected<program::Code, LibseccompFailure> build_with_libseccomp(const policy::Policy& policy, unsigned seconds,
                                                                     LibseccompShape shape) {
  const auto bytes = output_of([&](int fd) { return build(policy, shape, fd); }, seconds);
  if (!bytes) return tl::unexpected(bytes.error());
  auto code = program::from_bytes(*bytes, "libseccomp");
  if (!code) return tl::unexpected(LibseccompFailure::refused);
  return *code;
}

tl::expected<double, LibseccompFailure> time_in_child(const std::function<bool()>& work) {
  const auto timed = [&](int fd) {
    double took = 1e12;
    for (int round = 0; round < kRounds; ++round) {
      const double start = cpu_microseconds();
      if (!work()) return false;
      took = std::min(took, cpu_microseconds() - start);
    }
    return ::write(fd, &took, sizeof took) == sizeof took;
  };
  const auto bytes = output_of(timed, 10);
  if (!bytes) return tl::unexpected(bytes.error());
  double took = 0;
  if (bytes->size() != sizeof took) return tl::unexpected(LibseccompFailure::refused);
  std::memcpy(&took, bytes->data(), sizeof took);
  return took;
}

tl::expected<double, LibseccompFailure> time_libseccomp(const policy::Policy& policy, LibseccompShape shape) {
  return time_in_child([&] {
    const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
    return build(policy, shape, nowhere.get());
  });
}

}  // namespace seccompress::test
