// SPDX-License-Identifier: Apache-2.0
// Input: settings. Output: the filters, in the order in which systemd installs them. Entry point: filters_of.
//
// Method: kSteps is systemd's order (src/core/execute.c, exec_child); each step appends one policy for each local
// architecture (src/shared/seccomp-util.c, SECCOMP_FOREACH_LOCAL_ARCH), or one for all (SystemCallArchitectures=,
// which also takes architectures out of the later steps). All of it was compared with filters of systemd 252.
// A rule with its filter's own default action, or errno 4095, is refused by libseccomp: systemd does not start the
// unit.
//
// Known weaknesses: the personality that LockPersonality= finds in force is taken to be PER_LINUX; `+` commands, which
// run without filters, are not told apart.
#include "read/systemd_filters.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <span>

#include "abi/syscalls.h"
#include "abi/systemd_groups.h"
#include "read/systemd_rules.h"

namespace seccompress::read::systemd {
namespace {

using abi::Arch;
using abi::Verdict;
using policy::Condition;
using policy::Operator;

constexpr Verdict error(int number) { return abi::kErrno | static_cast<Verdict>(number); }

class FilterList {
 public:
  FilterList(const Settings& settings, const std::string& source, const Options& options, Diagnostics& diagnostics)
      : settings_(settings),
        source_(source),
        options_(options),
        groups_(options.systemd_version, options.systemd_groups),
        diagnostics_(diagnostics),
        arches_(local_arches(options.arch)) {}

  Result<std::vector<NamedPolicy>> run() {
    const std::size_t earlier = diagnostics_.error_count();
    for (const auto step : kSteps) (this->*step)();
    if (diagnostics_.error_count() > earlier) return reported();
    return std::move(filters_);
  }

 private:
  using Step = void (FilterList::*)();
  static const std::array<Step, 15> kSteps;

  // fill(filter, arch) adds the rules of one architecture.
  template <class Fill>
  void each_arch(std::string_view directive, Verdict default_verdict, Fill fill) {
    for (const Arch arch : arches_) {
      Filter filter(directive, arch, default_verdict, source_);
      fill(filter, arch);
      filters_.push_back(filter.take());
    }
  }
  void refuse_names(std::string_view directive, const Switch& setting, std::span<const std::string_view> names) {
    if (!setting.on) return;
    each_arch(directive, abi::kAllow, [&](Filter& filter, Arch) {
      for (const std::string_view name : names) filter.add(error(EPERM), name, {}, setting.where);
    });
  }
  void refuse_group(std::string_view directive, const Switch& setting, std::string_view group) {
    const auto names = groups_.names(group);
    if (names) refuse_names(directive, setting, *names);
  }

  void protect_hostname() {
    constexpr std::string_view kNames[] = {"sethostname", "setdomainname"};
    refuse_names("ProtectHostname", settings_.protect_hostname, kNames);
  }
  void protect_kernel_modules() { refuse_group("ProtectKernelModules", settings_.protect_kernel_modules, "@module"); }
  void protect_kernel_logs() {
    constexpr std::string_view kNames[] = {"syslog"};
    refuse_names("ProtectKernelLogs", settings_.protect_kernel_logs, kNames);
  }
  void protect_clock() { refuse_group("ProtectClock", settings_.protect_clock, "@clock"); }
  void private_devices() { refuse_group("PrivateDevices", settings_.private_devices, "@raw-io"); }

  void protect_kernel_tunables() {
    const Switch& setting = settings_.protect_kernel_tunables;
    if (!setting.on) return;
    for (const Arch arch : arches_) {
      if (is_one_of(arch, {Arch::aarch64, Arch::riscv64, Arch::x32})) continue;  // they have no _sysctl
      Filter filter("ProtectKernelTunables", arch, abi::kAllow, source_);
      filter.add(error(EPERM), "_sysctl", {}, setting.where);
      filters_.push_back(filter.take());
    }
  }

  void restrict_address_families() {
    const Families& families = settings_.families;
    if (!families.allow && families.listed.empty()) return;
    for (const Arch arch : arches_) {
      if (!is_one_of(arch, {Arch::x86_64, Arch::x32, Arch::arm, Arch::aarch64, Arch::mips64n32, Arch::mipsel64n32,
                            Arch::mips64, Arch::mipsel64, Arch::riscv64}))
        continue;  // those with socketcall get no filter
      Filter filter("RestrictAddressFamilies", arch, abi::kAllow, source_);
      if (families.allow)
        allow_families(filter, families);
      else
        for (const auto& [family, where] : families.listed) refuse_families(filter, Operator::eq, family, where);
      filters_.push_back(filter.take());
    }
  }
  static void refuse_families(Filter& filter, Operator op, int family, const Location& where) {
    filter.add(error(EAFNOSUPPORT), "socket", {compare(0, op, static_cast<std::uint64_t>(family))}, where);
  }
  static void allow_families(Filter& filter, const Families& families) {
    if (families.listed.empty()) return filter.add(error(EAFNOSUPPORT), "socket", {}, families.where);
    const int first = families.listed.begin()->first, last = families.listed.rbegin()->first;
    refuse_families(filter, Operator::lt, first, families.where);
    refuse_families(filter, Operator::gt, last, families.where);
    for (int family = first; family < last; ++family)
      if (families.listed.count(family) == 0) refuse_families(filter, Operator::eq, family, families.where);
  }

  // From v254 on a kernel >= 6.3 does it itself (PR_SET_MDWE).
  void memory_deny_write_execute() {
    const Switch& setting = settings_.memory_deny_write_execute;
    if (!setting.on || (options_.systemd_version >= 254 && options_.kernel >= KernelVersion{6, 3})) return;
    for (const Arch arch : arches_) {
      const bool old_mmap = is_one_of(arch, {Arch::x86, Arch::s390});
      const bool mmap2 = old_mmap || arch == Arch::arm;
      if (!mmap2 && !is_one_of(arch, {Arch::ppc, Arch::ppc64, Arch::ppc64le, Arch::s390x, Arch::x86_64, Arch::x32,
                                      Arch::aarch64, Arch::riscv64}))
        continue;
      Filter filter("MemoryDenyWriteExecute", arch, abi::kAllow, source_);
      filter.add(error(EPERM), mmap2 ? "mmap2" : "mmap", {has_bits(2, PROT_EXEC | PROT_WRITE)}, setting.where);
      if (old_mmap) filter.add(error(EPERM), "mmap", {}, setting.where);
      filter.add(error(EPERM), "mprotect", {has_bits(2, PROT_EXEC)}, setting.where);
      filter.add(error(EPERM), "pkey_mprotect", {has_bits(2, PROT_EXEC)}, setting.where);
      if (is_one_of(arch, {Arch::arm, Arch::x86_64, Arch::x32, Arch::aarch64, Arch::riscv64}))
        filter.add(error(EPERM), "shmat", {has_bits(2, SHM_EXEC)}, setting.where);
      filters_.push_back(filter.take());
    }
  }

  void restrict_realtime() {
    const Switch& setting = settings_.restrict_realtime;
    if (!setting.on) return;
    each_arch("RestrictRealtime", abi::kAllow, [&](Filter& filter, Arch) {
      for (std::uint64_t policy = 0; policy < SCHED_IDLE; ++policy)
        if (policy != SCHED_OTHER && policy != SCHED_BATCH)
          filter.add(error(EPERM), "sched_setscheduler", {compare(1, Operator::eq, policy)}, setting.where);
      filter.add(error(EPERM), "sched_setscheduler", {compare(1, Operator::gt, SCHED_IDLE)}, setting.where);
    });
  }

  void restrict_suid_sgid() {
    const Switch& setting = settings_.restrict_suid_sgid;
    if (!setting.on) return;
    struct Call {
      std::string_view name;
      std::uint8_t mode, flags;  // argument indexes; flags 0: none
    };
    constexpr Call kCalls[] = {{"chmod", 1, 0}, {"fchmod", 1, 0},  {"fchmodat", 2, 0}, {"fchmodat2", 2, 0},
                               {"mkdir", 1, 0}, {"mkdirat", 2, 0}, {"mknod", 1, 0},    {"mknodat", 2, 0},
                               {"open", 2, 1},  {"openat", 3, 2},  {"creat", 1, 0}};
    each_arch("RestrictSUIDSGID", abi::kAllow, [&](Filter& filter, Arch) {
      for (const std::uint64_t bit : {std::uint64_t{S_ISUID}, std::uint64_t{S_ISGID}})
        for (const Call& call : kCalls) {
          // systemd leaves open out where the machine's own architecture has none.
          if (call.name == "open" && !abi::syscall_number(options_.arch, call.name)) continue;
          std::vector<Condition> conditions = {has_bits(call.mode, bit)};
          if (call.flags != 0) conditions.push_back(has_bits(call.flags, O_CREAT));
          filter.add(error(EPERM), call.name, std::move(conditions), setting.where);
        }
      filter.add(error(ENOSYS), "openat2", {}, setting.where);
    });
  }

  Location where_namespace(std::uint32_t flag) const {
    const auto found = settings_.namespace_where.find(flag);
    return found == settings_.namespace_where.end() ? Location{} : found->second;
  }

  void restrict_namespaces() {
    const std::uint32_t retained = settings_.retained_namespaces.value_or(kNamespaces);
    if ((retained & kNamespaces) == kNamespaces) return;
    const bool none = (retained & kNamespaces) == 0;
    std::vector<std::uint32_t> refused;
    for (std::uint32_t flag = 1; flag != 0; flag <<= 1)
      if (((kNamespaces | kTimeNamespace) & ~retained & flag) != 0) refused.push_back(flag);
    const Location where = where_namespace(refused.back());
    each_arch("RestrictNamespaces", abi::kAllow, [&](Filter& filter, Arch arch) {
      filter.add(error(ENOSYS), "clone3", {}, where);
      if (none)
        filter.add(error(EPERM), "setns", {}, where);
      else
        filter.add(error(EPERM), "setns", {compare(1, Operator::eq, 0)}, where);
      for (const std::uint32_t flag : refused) {
        const Location flag_where = where_namespace(flag);
        filter.add(error(EPERM), "unshare", {has_bits(0, flag)}, flag_where);
        filter.add(error(EPERM), "clone", {has_bits(is_one_of(arch, {Arch::s390, Arch::s390x}) ? 1 : 0, flag)},
                   flag_where);
        if (!none) filter.add(error(EPERM), "setns", {has_bits(1, flag)}, flag_where);
      }
    });
  }

  // One filter without rules: it stands for itself by the architectures it lists. The machine's own is never blocked.
  void system_call_architectures() {
    if (settings_.architectures.empty()) return;
    std::vector<Arch> allowed;
    for (const Arch arch : arches_)
      if (arch == options_.arch || settings_.architectures.count(arch) > 0 || is_needed_by_vdso(arch))
        allowed.push_back(arch);
    if (allowed.size() == arches_.size()) return;
    NamedPolicy filter{"SystemCallArchitectures=", {}};
    filter.policy.source = source_;
    filter.policy.default_verdict = abi::kAllow;
    filter.policy.bad_arch_verdict = abi::kKillThread;
    filter.policy.architectures = allowed;
    filter.policy.architectures_where = settings_.architectures_where;
    filters_.push_back(std::move(filter));
    arches_ = std::move(allowed);
  }
  // x32 programs call x86_64's numbers from their vdso.
  bool is_needed_by_vdso(Arch arch) const { return options_.arch == Arch::x32 && arch == Arch::x86_64; }

  void lock_personality() {
    const Switch& setting = settings_.lock_personality;
    if (!setting.on) return;
    each_arch("LockPersonality", abi::kAllow, [&](Filter& filter, Arch) {
      const std::uint32_t locked = settings_.personality.value_or(PER_LINUX);
      filter.add(error(EPERM), "personality", {compare(0, Operator::ne, locked)}, setting.where);
    });
  }

  void system_call_log() {
    const CallList& list = settings_.log;
    if (list.empty()) return;
    const Verdict listed = list.allow() ? abi::kLog : abi::kAllow;
    each_arch("SystemCallLog", list.allow() ? abi::kAllow : abi::kLog, [&](Filter& filter, Arch) {
      filter.set_default_where(list.where());
      for (CallNames::Id id = 0; id < list.entries().size(); ++id)
        if (list.lists(id)) filter.add(listed, settings_.names.name(id), {}, list.place(list.entries()[id].place));
    });
  }

  static Verdict verdict_of(int number) { return number == kKill ? abi::kKillProcess : error(number); }

  void system_call_filter() {
    const CallList& list = settings_.filter;
    if (!list.allow() && list.empty()) return;
    const Verdict negative = verdict_of(settings_.error_number);
    const Verdict listed = list.allow() ? abi::kAllow : negative;
    // From v255 on, calls that @known does not have fail with ENOSYS instead.
    const bool known_only = list.allow() && options_.systemd_version >= 255;
    const Verdict otherwise = !list.allow() ? abi::kAllow : known_only ? error(ENOSYS) : negative;
    if (!starts(list, listed, otherwise)) return;
    each_arch("SystemCallFilter", otherwise, [&](Filter& filter, Arch) {
      filter.set_default_where(list.where());
      for (CallNames::Id id = 0; id < list.entries().size(); ++id) {
        const CallList::Entry& entry = list.entries()[id];
        // A rule that says what the default does: it changes nothing but tells where the call was taken off the list.
        if (entry.removed && list.allow()) filter.add(otherwise, settings_.names.name(id), {}, list.place(entry.place));
        if (!entry.listed) continue;
        filter.add(entry.error == kNoErrno ? listed : verdict_of(entry.error), settings_.names.name(id), {},
                   list.place(entry.place));
      }
      if (known_only && negative != otherwise) refuse_known(filter, negative);
    });
  }

  // seccomp_load_syscall_filter_set_raw(): members of @known itself that the machine's own architecture has.
  void refuse_known(Filter& filter, Verdict negative) {
    for (const std::string_view name : groups_.members("@known"))
      if (abi::syscall_number(options_.arch, name) && !is_listed(name))
        filter.add(negative, name, {}, settings_.filter.where());
  }
  bool is_listed(std::string_view name) const {
    for (CallNames::Id id = 0; id < settings_.filter.entries().size(); ++id)
      if (settings_.filter.lists(id) && settings_.names.name(id) == name) return true;
    return false;
  }

  // seccomp_rule_add() refuses a filter's own default action (EACCES) and errno 4095 (EINVAL).
  bool starts(const CallList& list, Verdict listed, Verdict otherwise) {
    constexpr Verdict kTooLarge = error(4095);
    bool good = true;
    if (otherwise == kTooLarge) good = refuse(settings_.error_number_where, "libseccomp takes no errno 4095");
    for (const CallList::Entry& entry : list.entries()) {
      if (!entry.listed) continue;
      const Verdict verdict = entry.error == kNoErrno ? listed : verdict_of(entry.error);
      if (verdict == kTooLarge)
        good = refuse(entry.error == kNoErrno ? settings_.error_number_where : list.place(entry.place),
                      "libseccomp takes no errno 4095");
      else if (verdict == otherwise)
        good = refuse(list.place(entry.place),
                      "the action of this entry is what other calls get as well; libseccomp refuses such rules");
      if (!good) break;
    }
    return good;
  }
  bool refuse(const Location& where, std::string what) {
    diagnostics_.error("systemd-start", where, std::move(what),
                       "systemd does not start this unit (status 228, SECCOMP)");
    return false;
  }

  const Settings& settings_;
  const std::string& source_;
  const Options& options_;
  const abi::SystemdGroups groups_;
  Diagnostics& diagnostics_;
  std::vector<Arch> arches_;  // without the ones that SystemCallArchitectures= has blocked
  std::vector<NamedPolicy> filters_;
};

constexpr std::array<FilterList::Step, 15> FilterList::kSteps = {
    &FilterList::protect_hostname,          &FilterList::restrict_address_families,
    &FilterList::memory_deny_write_execute, &FilterList::restrict_realtime,
    &FilterList::restrict_suid_sgid,        &FilterList::restrict_namespaces,
    &FilterList::protect_kernel_tunables,   &FilterList::protect_kernel_modules,
    &FilterList::protect_kernel_logs,       &FilterList::protect_clock,
    &FilterList::private_devices,           &FilterList::system_call_architectures,
    &FilterList::lock_personality,          &FilterList::system_call_log,
    &FilterList::system_call_filter};

}  // namespace

Result<std::vector<NamedPolicy>> filters_of(const Settings& settings, const std::string& source, const Options& options,
                                            Diagnostics& diagnostics) {
  return FilterList(settings, source, options, diagnostics).run();
}

}  // namespace seccompress::read::systemd
