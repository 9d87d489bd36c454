// SPDX-License-Identifier: Apache-2.0
// Input: what systemd-analyze prints. Output: version and groups. Entry points: parse_banner,
// parse_syscall_filter, differences, with_differences.
// Format (systemd 252 to 256, src/analyze/analyze-syscall-filter.c): "@group", "    # what it is for", then one name or
// nested group a line after four spaces; groups are parted by empty lines; what belongs to no group follows as
// comments. Bounds: kMaxSyscallFilterText, kMaxGroups, kMaxMembers, kMaxNameBytes, kDeepest. Whatever else a line looks
// like is an error: a group that were read short would make an allow-list's filter too strict and a deny-list's too
// loose.
#include "host/systemd_facts.h"

#include <charconv>

namespace seccompress::host {
namespace {

constexpr std::size_t kMaxGroups = 256, kMaxMembers = std::size_t{1} << 16, kMaxNameBytes = 64;
constexpr unsigned kDeepest = 4;
constexpr std::string_view kIndent = "    ";

tl::unexpected<Error> malformed(const std::string& where, const std::string& what) {
  return failure(Errc::malformed, "systemd-analyze " + where + ": " + what);
}

bool is_name(std::string_view name) {
  const std::string_view word = name.starts_with('@') ? name.substr(1) : name;
  if (word.empty() || name.size() > kMaxNameBytes) return false;
  for (const char c : word)
    if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_' && c != '-') return false;
  return true;
}
bool is_group(std::string_view name) { return name.starts_with('@') && is_name(name); }

class TableReader {
 public:
  Result<void> line(std::string_view text) {
    ++number_;
    if (text.empty()) return empty_line();
    if (text.starts_with('#')) return {};
    if (!text.starts_with(kIndent)) return group(text);
    const std::string_view entry = text.substr(kIndent.size());
    if (entry.starts_with("# ")) return {};
    return member(entry);
  }
  abi::SystemdTable take() { return std::move(table_); }

 private:
  Result<void> empty_line() {
    group_ = nullptr;
    return {};
  }
  Result<void> group(std::string_view name) {
    if (!is_group(name)) return fault("neither a group nor one of its members");
    if (table_.size() == kMaxGroups) return fault("more than " + std::to_string(kMaxGroups) + " groups");
    const auto [place, is_new] = table_.try_emplace(std::string(name));
    if (!is_new) return fault("the group is there twice");
    group_ = &place->second;
    return {};
  }
  Result<void> member(std::string_view name) {
    if (!is_name(name)) return fault("not the name of a system call or group");
    if (group_ == nullptr) return fault("a member without a group");
    if (++members_ > kMaxMembers) return fault("more than " + std::to_string(kMaxMembers) + " members");
    if (!group_->emplace(name).second) return fault("the member is there twice");
    return {};
  }
  Result<void> fault(const std::string& what) const {
    return malformed("syscall-filter, line " + std::to_string(number_), what);
  }

  abi::SystemdTable table_;
  std::set<std::string>* group_ = nullptr;
  std::size_t number_ = 0, members_ = 0;
};

// Is every nested group defined, and does nesting end?
Result<void> check_nesting(const abi::SystemdTable& table, const std::string& group, unsigned depth) {
  if (depth > kDeepest) return malformed("syscall-filter", group + " is nested too deeply or in itself");
  const auto found = table.find(group);
  if (found == table.end()) return malformed("syscall-filter", group + " is a member but no group");
  for (const std::string& member : found->second)
    if (member.starts_with('@')) TRY(check_nesting(table, member, depth + 1));
  return {};
}

Result<void> check_table(const abi::SystemdTable& table) {
  for (const auto& [group, members] : table) {
    if (members.empty()) return malformed("syscall-filter", group + " is empty");
    TRY(check_nesting(table, group, 0));
  }
  for (const char* const needed : {"@default", "@known"})
    if (!table.contains(needed)) return malformed("syscall-filter", std::string("has no ") + needed);
  return {};
}

void add_differences(char sign, const abi::SystemdTable& of, const abi::SystemdTable& from,
                     std::vector<std::string>& lines) {
  for (const auto& [group, members] : of) {
    const auto other = from.find(group);
    for (const std::string& member : members)
      if (other == from.end() || !other->second.contains(member)) lines.push_back(sign + group + ' ' + member);
  }
}

Result<void> apply_difference(abi::SystemdTable& table, const std::string& line) {
  const std::size_t space = line.find(' ');
  const bool shaped = space != std::string::npos && (line.front() == '+' || line.front() == '-') &&
                      is_group(line.substr(1, space - 1)) && is_name(line.substr(space + 1));
  if (!shaped) return failure(Errc::malformed, "'" + line + "' is no difference such as '+@mount fsopen'");
  const std::string group = line.substr(1, space - 1), member = line.substr(space + 1);
  const bool changed = line.front() == '+' ? table[group].insert(member).second : table[group].erase(member) > 0;
  if (!changed) return failure(Errc::malformed, "'" + line + "' changes nothing in this build's table");
  return {};
}

}  // namespace

Result<unsigned> parse_banner(std::string_view text) {
  constexpr std::string_view kPrefix = "systemd ";
  unsigned version = 0;
  if (text.starts_with(kPrefix)) {
    const char* const end = text.data() + text.size();
    const auto [rest, status] = std::from_chars(text.data() + kPrefix.size(), end, version);
    if (status == std::errc() && rest != end && (*rest == ' ' || *rest == '\n')) return version;
  }
  return malformed("--version", "does not begin like \"systemd 252 (...)\"");
}

Result<abi::SystemdTable> parse_syscall_filter(std::string_view text) {
  if (text.size() > kMaxSyscallFilterText) return failure(Errc::budget, "systemd-analyze syscall-filter: too long");
  TableReader reader;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return malformed("syscall-filter", "ends within a line");
    TRY(reader.line(text.substr(0, end)));
    text.remove_prefix(end + 1);
  }
  abi::SystemdTable table = reader.take();
  TRY(check_table(table));
  return table;
}

std::vector<std::string> differences(const abi::SystemdTable& groups, const abi::SystemdTable& from) {
  std::vector<std::string> lines;
  add_differences('+', groups, from, lines);
  add_differences('-', from, groups, lines);
  return lines;
}

std::vector<std::string> differences(const SystemdFacts& facts) {
  return differences(facts.groups, abi::shipped_systemd_table(facts.version));
}

Result<SystemdFacts> with_differences(unsigned version, std::span<const std::string> lines) {
  SystemdFacts facts{version, abi::shipped_systemd_table(version)};
  for (const std::string& line : lines) TRY(apply_difference(facts.groups, line));
  std::erase_if(facts.groups, [](const auto& group) { return group.second.empty(); });
  TRY(check_table(facts.groups));
  return facts;
}

}  // namespace seccompress::host
