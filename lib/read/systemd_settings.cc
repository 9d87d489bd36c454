// SPDX-License-Identifier: Apache-2.0
// Input: assignments in order. Output: Settings. Entry points: SettingsReader::apply, finish.
//
// Source: systemd 252 src/core/load-fragment.c (config_parse_*), each rule checked against the real program. What
// systemd skips with a warning is skipped here with one. No directive of these expands specifiers: a '%' is part of
// the word.
#include "read/systemd_settings.h"

#include <linux/sched.h>
#include <sys/personality.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

#include "read/unit_words.h"

namespace seccompress::read::systemd {
namespace {

using unit::Assignment;
using unit::Words;

struct Named {
  std::string_view name;
  std::uint32_t value;
};

constexpr Named kNamespaceNames[] = {{"cgroup", CLONE_NEWCGROUP}, {"ipc", CLONE_NEWIPC},  {"net", CLONE_NEWNET},
                                     {"mnt", CLONE_NEWNS},        {"pid", CLONE_NEWPID},  {"user", CLONE_NEWUSER},
                                     {"uts", CLONE_NEWUTS},       {"time", CLONE_NEWTIME}};

// systemd's own names of architectures (seccomp_arch_from_string).
constexpr struct {
  std::string_view name;
  abi::Arch arch;
} kArchNames[] = {{"x86", abi::Arch::x86},
                  {"x86-64", abi::Arch::x86_64},
                  {"x32", abi::Arch::x32},
                  {"arm", abi::Arch::arm},
                  {"arm64", abi::Arch::aarch64},
                  {"mips", abi::Arch::mips},
                  {"mips64", abi::Arch::mips64},
                  {"mips64-n32", abi::Arch::mips64n32},
                  {"mips-le", abi::Arch::mipsel},
                  {"mips64-le", abi::Arch::mipsel64},
                  {"mips64-le-n32", abi::Arch::mipsel64n32},
                  {"ppc", abi::Arch::ppc},
                  {"ppc64", abi::Arch::ppc64},
                  {"ppc64-le", abi::Arch::ppc64le},
                  {"riscv64", abi::Arch::riscv64},
                  {"s390", abi::Arch::s390},
                  {"s390x", abi::Arch::s390x}};

// The names that the socket headers define, as systemd's generated table has them (AF_UNSPEC and AF_MAX left out).
constexpr Named kFamilies[] = {
#define FAMILY(name) \
  { #name, static_cast < std::uint32_t>(name) }
    FAMILY(AF_ALG),     FAMILY(AF_APPLETALK), FAMILY(AF_ASH),     FAMILY(AF_ATMPVC),  FAMILY(AF_ATMSVC),
    FAMILY(AF_AX25),    FAMILY(AF_BLUETOOTH), FAMILY(AF_BRIDGE),  FAMILY(AF_CAIF),    FAMILY(AF_CAN),
    FAMILY(AF_DECnet),  FAMILY(AF_ECONET),    FAMILY(AF_FILE),    FAMILY(AF_IB),      FAMILY(AF_IEEE802154),
    FAMILY(AF_INET),    FAMILY(AF_INET6),     FAMILY(AF_IPX),     FAMILY(AF_IRDA),    FAMILY(AF_ISDN),
    FAMILY(AF_IUCV),    FAMILY(AF_KCM),       FAMILY(AF_KEY),     FAMILY(AF_LLC),     FAMILY(AF_LOCAL),
    FAMILY(AF_MCTP),    FAMILY(AF_MPLS),      FAMILY(AF_NETBEUI), FAMILY(AF_NETLINK), FAMILY(AF_NETROM),
    FAMILY(AF_NFC),     FAMILY(AF_PACKET),    FAMILY(AF_PHONET),  FAMILY(AF_PPPOX),   FAMILY(AF_QIPCRTR),
    FAMILY(AF_RDS),     FAMILY(AF_ROSE),      FAMILY(AF_ROUTE),   FAMILY(AF_RXRPC),   FAMILY(AF_SECURITY),
    FAMILY(AF_SMC),     FAMILY(AF_SNA),       FAMILY(AF_TIPC),    FAMILY(AF_UNIX),    FAMILY(AF_VSOCK),
    FAMILY(AF_WANPIPE), FAMILY(AF_X25),       FAMILY(AF_XDP)
#undef FAMILY
};

template <std::size_t N>
std::optional<std::uint32_t> value_of(const Named (&table)[N], std::string_view name) {
  for (const Named& one : table)
    if (one.name == name) return one.value;
  return std::nullopt;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 60;
  std::string result = "\"" + std::string(text.substr(0, kShown));
  return result + (text.size() > kShown ? "...\"" : "\"");
}

// Edit distance at most 2, of names that are nearly as long.
bool is_similar(std::string_view a, std::string_view b) {
  constexpr std::size_t kDistance = 2;
  if (std::max(a.size(), b.size()) - std::min(a.size(), b.size()) > kDistance) return false;
  std::vector<std::size_t> above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = (a[i - 1] | 0x20) == (b[j - 1] | 0x20);  // letters, whatever their case
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
    }
    std::swap(above, row);
  }
  return above[b.size()] <= kDistance;
}

}  // namespace

constexpr SettingsReader::Directive SettingsReader::kDirectives[] = {
    {"SystemCallFilter", &SettingsReader::system_call_filter, nullptr},
    {"SystemCallLog", &SettingsReader::system_call_log, nullptr},
    {"SystemCallErrorNumber", &SettingsReader::system_call_error_number, nullptr},
    {"SystemCallArchitectures", &SettingsReader::system_call_architectures, nullptr},
    {"RestrictAddressFamilies", &SettingsReader::restrict_address_families, nullptr},
    {"RestrictNamespaces", &SettingsReader::restrict_namespaces, nullptr},
    {"Personality", &SettingsReader::personality, nullptr},
    {"ProtectHostname", nullptr, &Settings::protect_hostname},
    {"MemoryDenyWriteExecute", nullptr, &Settings::memory_deny_write_execute},
    {"RestrictRealtime", nullptr, &Settings::restrict_realtime},
    {"RestrictSUIDSGID", nullptr, &Settings::restrict_suid_sgid},
    {"ProtectKernelTunables", nullptr, &Settings::protect_kernel_tunables},
    {"ProtectKernelModules", nullptr, &Settings::protect_kernel_modules},
    {"ProtectKernelLogs", nullptr, &Settings::protect_kernel_logs},
    {"ProtectClock", nullptr, &Settings::protect_clock},
    {"PrivateDevices", nullptr, &Settings::private_devices},
    {"LockPersonality", nullptr, &Settings::lock_personality},
    {"NoNewPrivileges", nullptr, &Settings::no_new_privileges},
    {"DynamicUser", nullptr, &Settings::dynamic_user},
};

SettingsReader::SettingsReader(const Options& options, std::string section, Diagnostics& diagnostics)
    : version_(options.systemd_version),
      native_(options.arch),
      section_(std::move(section)),
      diagnostics_(diagnostics),
      settings_(abi::SystemdGroups(options.systemd_version, options.systemd_groups)) {}

void SettingsReader::ignore(const Location& where, std::string what, std::string hint) {
  diagnostics_.warning("systemd-ignored", where, std::move(what), std::move(hint));
}

void SettingsReader::apply(const Assignment& assignment) {
  if (++assignments_ > kMaxAssignments) {
    if (assignments_ == kMaxAssignments + 1)
      diagnostics_.error("systemd-size", assignment.where(),
                         "more than " + std::to_string(kMaxAssignments) + " assignments");
    return;
  }
  const bool counts = section_.empty() ? unit::is_exec_section(assignment.section) : assignment.section == section_;
  seen_section_ = seen_section_ || counts;
  const auto* directive = std::find_if(std::begin(kDirectives), std::end(kDirectives),
                                       [&](const Directive& one) { return one.name == assignment.key; });
  if (directive == std::end(kDirectives)) {
    if (counts) warn_unknown(assignment);
  } else if (counts) {
    apply_directive(*directive, assignment);
  } else {
    ignore(assignment.where(),
           std::string(assignment.key) + "= has no effect in [" + std::string(assignment.section) + ']',
           "it belongs to [" + (section_.empty() ? "Service" : section_) + ']');
  }
}

void SettingsReader::apply_directive(const Directive& directive, const Assignment& assignment) {
  if (directive.toggle != nullptr)
    apply_switch(settings_.*directive.toggle, assignment);
  else
    (this->*directive.apply)(assignment);
}

// Names that nearly are one of ours. Bounded: a hostile unit can hold any number of unknown names.
void SettingsReader::warn_unknown(const Assignment& assignment) {
  constexpr std::size_t kChecked = 256, kLongest = 64;
  if (assignment.key.size() > kLongest || ++unknown_ > kChecked) return;
  for (const Directive& directive : kDirectives) {
    if (!is_similar(assignment.key, directive.name)) continue;
    ignore(assignment.where(), "systemd knows no directive " + quoted(assignment.key),
           "did you mean " + std::string(directive.name) + "=?");
    return;
  }
}

void SettingsReader::apply_switch(Switch& toggle, const Assignment& assignment) {
  const auto value = unit::parse_boolean(assignment.value);
  if (!value)
    return ignore(assignment.at(assignment.value.data()), quoted(assignment.value) + " is neither yes nor no");
  toggle = {*value, assignment.where()};
}

bool SettingsReader::take_word(const Assignment& assignment) {
  if (++words_ <= kMaxWords) return true;
  if (words_ == kMaxWords + 1)
    diagnostics_.error("systemd-size", assignment.where(),
                       "more than " + std::to_string(kMaxWords) + " words in lists");
  return false;
}

void SettingsReader::system_call_filter(const Assignment& assignment) {
  CallList& list = settings_.filter;
  if (assignment.value.empty()) return list.reset();
  const bool invert = assignment.value.front() == '~';
  if (!list.begun()) {
    list.begin(!invert, assignment.where());
    if (!invert) add_call_word(list, "@default", false, false, assignment.where());
  }
  add_calls(list, assignment.value.substr(invert ? 1 : 0), invert, true, assignment);
}

void SettingsReader::system_call_log(const Assignment& assignment) {
  CallList& list = settings_.log;
  if (assignment.value.empty()) return list.reset();
  const bool invert = assignment.value.front() == '~';
  if (!list.begun()) list.begin(!invert, assignment.where());
  add_calls(list, assignment.value.substr(invert ? 1 : 0), invert, false, assignment);
}

void SettingsReader::add_calls(CallList& list, std::string_view text, bool invert, bool with_errors,
                               const Assignment& assignment) {
  Words words(text, Words::Quotes::kept);
  for (;;) {
    const Words::Step step = words.next();
    if (step == Words::Step::end) return;
    if (step == Words::Step::broken)
      return ignore(assignment.at(words.begin()), "a backslash without a character behind it; the rest is skipped");
    if (!take_word(assignment)) return;
    add_call_word(list, words.word(), invert, with_errors, assignment.at(words.begin()));
  }
}

void SettingsReader::add_call_word(CallList& list, const std::string& word, bool invert, bool with_errors,
                                   const Location& where) {
  std::string name = word;
  int error = kNoErrno;
  if (const auto colon = word.find(':'); with_errors && colon != std::string::npos) {
    name = word.substr(0, colon);
    const std::string text = word.substr(colon + 1);
    const auto number = text == "kill" ? std::optional(kKill) : unit::parse_errno(text);
    if (!number || name.empty()) return ignore(where, quoted(word) + " is no NAME:ERRNO");
    if (!invert) return ignore(where, "an allowed system call cannot take an errno: " + quoted(word));
    error = *number;
  }
  if (name.starts_with('@')) {
    const auto* members = settings_.names.find_group(name);
    if (members == nullptr)
      return ignore(where, "systemd " + std::to_string(version_) + " has no group of system calls " + quoted(name));
    const std::uint32_t place = list.add_place(where);
    for (const CallNames::Id id : *members) list.put(id, invert, error, place);
  } else if (const auto id = settings_.names.find_call(name)) {
    list.put(*id, invert, error, list.add_place(where));
  } else {
    ignore(where, "unknown system call " + quoted(name), "libseccomp has no such name, so systemd skips it");
  }
}

void SettingsReader::system_call_error_number(const Assignment& assignment) {
  const std::string value(assignment.value);
  if (!value.empty() && value != "kill") {
    const auto number = unit::parse_errno(value);
    if (!number || *number == 0) return ignore(assignment.at(assignment.value.data()), quoted(value) + " is no errno");
    settings_.error_number = *number;
  } else {
    settings_.error_number = kKill;
  }
  settings_.error_number_where = assignment.where();
}

void SettingsReader::system_call_architectures(const Assignment& assignment) {
  settings_.architectures_where = assignment.where();
  if (assignment.value.empty()) return settings_.architectures.clear();
  Words words(assignment.value, Words::Quotes::removed);
  for (;;) {
    const Words::Step step = words.next();
    if (step == Words::Step::end) return;
    if (step == Words::Step::broken)
      return ignore(assignment.at(words.begin()), "an unfinished quote; the rest is skipped");
    if (!take_word(assignment)) return;
    const auto* known = std::find_if(std::begin(kArchNames), std::end(kArchNames),
                                     [&](const auto& one) { return one.name == words.word(); });
    if (words.word() == "native")
      settings_.architectures.insert(native_);
    else if (known != std::end(kArchNames))
      settings_.architectures.insert(known->arch);
    else
      ignore(assignment.at(words.begin()), "unknown architecture " + quoted(words.word()));
  }
}

void SettingsReader::restrict_address_families(const Assignment& assignment) {
  Families& families = settings_.families;
  if (assignment.value.empty() || assignment.value == "none") {
    families = {.begun = false, .allow = !assignment.value.empty(), .listed = {}, .where = assignment.where()};
    return;
  }
  const bool invert = assignment.value.front() == '~';
  if (!families.begun) families.allow = !invert;
  families.begun = true;
  families.where = assignment.where();
  Words words(assignment.value.substr(invert ? 1 : 0), Words::Quotes::removed);
  for (;;) {
    const Words::Step step = words.next();
    if (step == Words::Step::end) return;
    if (step == Words::Step::broken)
      return ignore(assignment.at(words.begin()), "an unfinished quote; the rest is skipped");
    if (!take_word(assignment)) return;
    const auto family = value_of(kFamilies, words.word());
    if (!family)
      ignore(assignment.at(words.begin()), "unknown address family " + quoted(words.word()));
    else if (invert != families.allow)
      families.listed.insert_or_assign(static_cast<int>(*family), assignment.at(words.begin()));
    else
      families.listed.erase(static_cast<int>(*family));
  }
}

// A list merges with what earlier assignments left; one unknown name and the whole assignment is skipped.
void SettingsReader::restrict_namespaces(const Assignment& assignment) {
  if (assignment.value.empty()) {
    settings_.retained_namespaces.reset();
    return;
  }
  if (const auto all = unit::parse_boolean(assignment.value)) {
    settings_.retained_namespaces = *all ? 0 : kNamespaces;
    for (const Named& one : kNamespaceNames) settings_.namespace_where[one.value] = assignment.where();
    return;
  }
  const bool invert = assignment.value.front() == '~';
  std::uint32_t flags = 0;
  Words words(assignment.value.substr(invert ? 1 : 0), Words::Quotes::kept);
  for (;;) {
    const Words::Step step = words.next();
    if (step == Words::Step::end) break;
    const auto flag = step == Words::Step::word ? value_of(kNamespaceNames, words.word()) : std::nullopt;
    if (!flag)
      return ignore(assignment.at(words.begin()),
                    "unknown namespace " + quoted(words.word()) + "; the whole assignment is skipped");
    flags |= *flag;
    if (!take_word(assignment)) return;
  }
  merge_namespaces(flags, invert, assignment.where());
}

void SettingsReader::merge_namespaces(std::uint32_t flags, bool invert, const Location& where) {
  const auto before = settings_.retained_namespaces;
  const std::uint32_t all = before.value_or(invert ? kNamespaces : 0);
  const std::uint32_t now = invert ? all & ~flags : all | flags;
  for (const Named& one : kNamespaceNames)
    if ((now & one.value) == 0 && (!before || (*before & one.value) != 0)) settings_.namespace_where[one.value] = where;
  settings_.retained_namespaces = now;
}

// personality_from_string(): the machine's own architecture, or its 32-bit one.
void SettingsReader::personality(const Assignment& assignment) {
  if (assignment.value.empty()) {
    settings_.personality.reset();
    return;
  }
  constexpr struct {
    abi::Arch native;
    std::string_view own, narrow;
  } kPersonalities[] = {{abi::Arch::x86_64, "x86-64", "x86"},       {abi::Arch::x86, "x86", ""},
                        {abi::Arch::aarch64, "arm64", "arm"},       {abi::Arch::arm, "arm", ""},
                        {abi::Arch::ppc64le, "ppc64-le", "ppc-le"}, {abi::Arch::ppc64, "ppc64", "ppc"},
                        {abi::Arch::s390x, "s390x", "s390"},        {abi::Arch::riscv64, "riscv64", "riscv32"}};
  for (const auto& one : kPersonalities) {
    if (one.native != native_) continue;
    if (assignment.value == one.own)
      settings_.personality = PER_LINUX;
    else if (assignment.value == one.narrow)
      settings_.personality = PER_LINUX32;
    else
      continue;
    return;
  }
  ignore(assignment.at(assignment.value.data()),
         quoted(assignment.value) + " is no personality of " + std::string(abi::arch_name(native_)));
}

// unit_patch_contexts(): a user made for the unit must leave no set-user-ID file behind.
Settings SettingsReader::finish() {
  if (settings_.dynamic_user.on) {
    settings_.restrict_suid_sgid = settings_.dynamic_user;
    settings_.no_new_privileges = settings_.dynamic_user;
  }
  return std::move(settings_);
}

}  // namespace seccompress::read::systemd
