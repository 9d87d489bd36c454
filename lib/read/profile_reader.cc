// SPDX-License-Identifier: Apache-2.0
// Input: a located JSON object. Output: a policy. Entry point: ProfileReader::read.
//
// Conventions (runc libcontainer/specconv and libcontainer/seccomp; crun src/libcrun/seccomp.c; moby
// profiles/seccomp): errnoRet defaults to EPERM for ERRNO and TRACE; an entry that names one argument twice
// means OR of its conditions; null stands for an absent list. Where runtimes silently guess (a missing value
// read as 0, errno 65536 cut to 0, keys in other case) the input is refused: test/unit/read/edge.tsv has each
// decision beside what the engines do.
#include "read/profile_reader.h"

#include <algorithm>
#include <array>

#include "abi/syscalls.h"
#include "abi/verdict.h"

namespace seccompress::read {
namespace {

using json::Kind;
using json::Value;
using policy::Condition;
using policy::Operator;
using policy::Policy;
using policy::Rule;

struct OperatorName {
  std::string_view name;
  Operator op;
};
constexpr std::array kOperators = {
    OperatorName{"SCMP_CMP_NE", Operator::ne},
    OperatorName{"SCMP_CMP_LT", Operator::lt},
    OperatorName{"SCMP_CMP_LE", Operator::le},
    OperatorName{"SCMP_CMP_EQ", Operator::eq},
    OperatorName{"SCMP_CMP_GE", Operator::ge},
    OperatorName{"SCMP_CMP_GT", Operator::gt},
    OperatorName{"SCMP_CMP_MASKED_EQ", Operator::masked_eq},
};

constexpr std::array<std::string_view, 4> kFlags = {"SECCOMP_FILTER_FLAG_TSYNC", "SECCOMP_FILTER_FLAG_LOG",
                                                    "SECCOMP_FILTER_FLAG_SPEC_ALLOW",
                                                    "SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV"};

constexpr std::uint16_t kEperm = 1;
constexpr std::uint16_t kMaxErrno = 4095;

// Text of the input inside a message: bounded, and safe for a terminal.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text.substr(0, 64)) result += c >= ' ' && c < 0x7f ? c : '?';
  return result + (text.size() > 64 ? "...\"" : "\"");
}

std::string allowed_actions() {
  std::string names;
#define ACTION(name, word, oci, data) names += names.empty() ? oci : ", " oci;
#include "abi/action.def"
#undef ACTION
  return names + ", SCMP_ACT_KILL";
}

std::string allowed_operators() {
  std::string names;
  for (const OperatorName& one : kOperators) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

std::string allowed_architectures() {
  std::string names;
  for (const abi::ArchFacts& one : abi::all_arches()) names += (names.empty() ? "" : ", ") + std::string(one.oci);
  return names;
}

bool absent(const Value* value) { return value == nullptr || value->kind == Kind::null; }

bool takes_errno(abi::Action action) { return action == abi::Action::errno_ || action == abi::Action::trace; }

bool some_index_twice(const std::vector<Condition>& conditions) {
  std::array<int, 6> count{};
  return std::any_of(conditions.begin(), conditions.end(),
                     [&](const Condition& one) { return ++count[one.index] > 1; });
}

}  // namespace

Policy ProfileReader::read(const Value& profile, const Format& format) {
  Policy policy;
  policy.source = cursor_.document().file();
  const auto fallback = read_verdict(profile, "defaultAction", "defaultErrnoRet",
                                     format.string_errnos ? "defaultErrno" : std::string_view());
  if (fallback) policy.default_verdict = *fallback;
  if (const Value* action = profile.find("defaultAction")) policy.default_where = cursor_.document().locate(*action);
  read_flags(policy, profile);
  read_listener(policy, profile);
  const Value* entries = profile.find("syscalls");
  if (absent(entries)) return policy;
  if (const std::vector<Value>* list = cursor_.list(*entries))
    for (const Value& entry : *list)
      if (cursor_.expect(entry, Kind::object)) read_entry(policy, entry, format);
  return policy;
}

void ProfileReader::add_architectures(Policy& policy, const Value& list, bool native_token) {
  const std::vector<Value>* names = cursor_.list(list);
  if (names == nullptr) return;
  for (const Value& name : *names) add_architecture(policy, name, native_token);
}

void ProfileReader::add_architecture(Policy& policy, const Value& name, bool native_token) {
  const std::string* text = cursor_.string(name);
  if (text == nullptr) return;
  const auto arch = native_token && *text == "SCMP_ARCH_NATIVE" ? options_.arch : abi::arch_from_oci(*text);
  if (!arch) {
    cursor_.error("unknown-architecture", name, "unknown architecture " + quoted(*text),
                  "one of " + allowed_architectures());
    return;
  }
  if (abi::is_big_endian(*arch) != abi::is_big_endian(options_.arch)) {
    cursor_.error("foreign-endian", name,
                  quoted(*text) + " has another byte order than " + std::string(abi::arch_name(options_.arch)),
                  "one program cannot serve both; runtimes refuse it too");
    return;
  }
  if (std::find(policy.architectures.begin(), policy.architectures.end(), *arch) == policy.architectures.end())
    policy.architectures.push_back(*arch);
}

void ProfileReader::add_native(Policy& policy) {
  const auto begin = policy.architectures.begin();
  if (std::find(begin, policy.architectures.end(), options_.arch) != policy.architectures.end()) return;
  policy.architectures.insert(begin, options_.arch);
  policy.native_added = true;
}

std::optional<abi::Verdict> ProfileReader::read_verdict(const Value& object, std::string_view action_key,
                                                        std::string_view errno_key, std::string_view string_errno_key) {
  const Value* name = cursor_.require(object, action_key);
  const std::string* text = name == nullptr ? nullptr : cursor_.string(*name);
  if (text == nullptr) return std::nullopt;
  const auto action = abi::action_from_oci(*text);
  if (!action) {
    cursor_.error("unknown-action", *name, "unknown action " + quoted(*text), "one of " + allowed_actions());
    return std::nullopt;
  }
  const Value* number = object.find(errno_key);
  const Value* symbol = string_errno_key.empty() ? nullptr : object.find(string_errno_key);
  std::optional<std::uint16_t> data = takes_errno(*action) ? kEperm : std::uint16_t{0};
  if (!absent(number)) data = read_errno(*number);
  if (!absent(symbol) && !symbol->text.empty()) data = read_string_errno(*symbol);
  if (!data) return std::nullopt;
  if (takes_errno(*action)) {
    if (*action == abi::Action::errno_ && *data >= kMaxErrno)
      cursor_.warning("errno-range", absent(symbol) ? *number : *symbol,
                      "libseccomp refuses errno " + std::to_string(*data), "the kernel answers 4095 at most");
    return abi::word_of(*action) | *data;
  }
  if (!absent(number) && *action != abi::Action::errno_ && action_key == "action")
    cursor_.warning("errno-ignored", *number, std::string(errno_key) + " means nothing with " + quoted(*text),
                    "runc ignores it, crun refuses to start");
  return abi::word_of(*action);
}

std::optional<std::uint16_t> ProfileReader::read_errno(const Value& value) {
  const auto number = cursor_.integer(value, UINT16_MAX);
  if (!number) return std::nullopt;
  return static_cast<std::uint16_t>(*number);
}

// containers/common pkg/seccomp: a symbol or a decimal number, and it beats the numeric field.
std::optional<std::uint16_t> ProfileReader::read_string_errno(const Value& value) {
  const std::string* text = cursor_.string(value);
  if (text == nullptr) return std::nullopt;
  if (const auto number = abi::errno_from_name(*text)) return static_cast<std::uint16_t>(*number);
  const bool decimal =
      !text->empty() && text->size() <= 4 && text->find_first_not_of("0123456789") == std::string::npos;
  if (decimal) return static_cast<std::uint16_t>(std::stoul(*text));
  cursor_.error("unknown-errno", value, "unknown errno " + quoted(*text), "a name such as \"EPERM\", or a number");
  return std::nullopt;
}

void ProfileReader::read_flags(Policy& policy, const Value& profile) {
  const Value* list = profile.find("flags");
  if (absent(list)) return;
  policy.flags_present = true;
  const std::vector<Value>* flags = cursor_.list(*list);
  if (flags == nullptr) return;
  for (const Value& flag : *flags) {
    const std::string* text = cursor_.string(flag);
    if (text == nullptr) continue;
    if (std::find(kFlags.begin(), kFlags.end(), *text) != kFlags.end()) {
      policy.flags.push_back(*text);
    } else {
      std::string hint = "one of ";
      for (const std::string_view known : kFlags) hint += (known == kFlags[0] ? "" : ", ") + std::string(known);
      cursor_.error("unknown-flag", flag, "unknown flag " + quoted(*text), hint);
    }
  }
}

void ProfileReader::read_listener(Policy& policy, const Value& profile) {
  const Value* path = profile.find("listenerPath");
  if (!absent(path)) {
    if (const std::string* text = cursor_.string(*path)) policy.listener_path = *text;
  }
  const Value* metadata = profile.find("listenerMetadata");
  if (absent(metadata)) return;
  const std::string* text = cursor_.string(*metadata);
  if (text != nullptr && !text->empty() && policy.listener_path.empty())
    cursor_.warning("listener-metadata", *metadata, "listenerMetadata without listenerPath goes to nobody");
}

void ProfileReader::read_entry(Policy& policy, const Value& entry, const Format& format) {
  const auto applies = format.applies ? format.applies(entry) : std::optional<bool>(true);
  Rule rule;
  rule.where = cursor_.document().locate(entry);
  const auto verdict = read_verdict(entry, "action", "errnoRet", format.string_errnos ? "errno" : std::string_view());
  auto names = read_names(entry, format);
  auto conditions = read_conditions(entry);
  if (!applies || !verdict || !names || !conditions || !*applies) return;
  warn_unknown_names(entry);
  rule.verdict = *verdict;
  rule.names = std::move(*names);
  rule.all_of = std::move(*conditions);
  add_rules(policy, entry, std::move(rule));
}

std::optional<std::vector<std::string>> ProfileReader::read_names(const Value& entry, const Format& format) {
  const Value* names = entry.find("names");
  const Value* single = entry.find("name");
  const bool has_single = !absent(single) && !(single->kind == Kind::string && single->text.empty());
  if (has_single && !format.single_name) {
    cursor_.error("old-format", *single, "\"name\" is docker's old format; runtimes ignore such an entry",
                  "write \"names\": [...], or read the file as docker:");
    return std::nullopt;
  }
  if (has_single && !absent(names) && !names->elements.empty()) {
    cursor_.error("name-and-names", *single, "\"name\" and \"names\" exclude each other", "keep \"names\"");
    return std::nullopt;
  }
  if (has_single) {
    const std::string* text = cursor_.string(*single);
    if (text == nullptr) return std::nullopt;
    return std::vector<std::string>{*text};
  }
  if (names == nullptr) names = cursor_.require(entry, "names");
  if (names == nullptr) return std::nullopt;
  auto list = cursor_.strings(*names);
  if (list && list->empty()) cursor_.warning("no-names", entry, "the entry names no call", "remove it");
  return list;
}

void ProfileReader::warn_unknown_names(const Value& entry) {
  const auto check = [this](const Value& name) {
    if (!abi::is_syscall_name(name.text))
      cursor_.warning("unknown-syscall", name, "unknown system call " + quoted(name.text) + " is skipped");
  };
  const Value* names = entry.find("names");
  if (names != nullptr && !names->elements.empty())
    std::for_each(names->elements.begin(), names->elements.end(), check);
  else if (const Value* single = entry.find("name"); single != nullptr)
    check(*single);
}

std::optional<std::vector<Condition>> ProfileReader::read_conditions(const Value& entry) {
  std::vector<Condition> conditions;
  const Value* arguments = entry.find("args");
  if (absent(arguments)) return conditions;
  const std::vector<Value>* list = cursor_.list(*arguments);
  if (list == nullptr) return std::nullopt;
  bool complete = true;
  for (const Value& argument : *list) {
    auto condition = read_condition(argument);
    if (condition)
      conditions.push_back(std::move(*condition));
    else
      complete = false;
  }
  if (!complete) return std::nullopt;
  return conditions;
}

std::optional<Condition> ProfileReader::read_condition(const Value& argument) {
  if (!cursor_.expect(argument, Kind::object)) return std::nullopt;
  cursor_.check_keys(argument, {"index", "value", "valueTwo", "op"});
  const Value* index = cursor_.require(argument, "index");
  const Value* value = cursor_.require(argument, "value");
  const Value* name = cursor_.require(argument, "op");
  if (index == nullptr || value == nullptr || name == nullptr) return std::nullopt;
  const auto number = cursor_.integer(*index, 5);
  const auto first = cursor_.integer(*value);
  const Value* two = argument.find("valueTwo");
  const auto second = absent(two) ? std::optional<std::uint64_t>(0) : cursor_.integer(*two);
  const std::string* op = cursor_.string(*name);
  if (!number || !first || !second || op == nullptr) return std::nullopt;
  const auto* known =
      std::find_if(kOperators.begin(), kOperators.end(), [&](const OperatorName& one) { return one.name == *op; });
  if (known == kOperators.end()) {
    cursor_.error("unknown-operator", *name, "unknown operator " + quoted(*op), "one of " + allowed_operators());
    return std::nullopt;
  }
  return Condition{static_cast<std::uint8_t>(*number), known->op, *first,
                   known->op == Operator::masked_eq ? *second : 0, cursor_.document().locate(argument)};
}

void ProfileReader::add_rules(Policy& policy, const Value& entry, Rule rule) {
  const bool or_turned = some_index_twice(rule.all_of);
  if (!within_limit(entry, or_turned ? rule.all_of.size() : 1, rule.names.size())) return;
  if (!or_turned) {
    policy.rules.push_back(std::move(rule));
    return;
  }
  for (Condition& condition : rule.all_of) {
    Rule one{rule.names, rule.verdict, {}, true, rule.where};
    one.all_of.push_back(std::move(condition));
    policy.rules.push_back(std::move(one));
  }
}

bool ProfileReader::within_limit(const Value& entry, std::size_t rules, std::size_t names) {
  const bool first_time = names_ <= kMaxNames;
  names_ += rules * std::max<std::size_t>(names, 1);
  if (names_ <= kMaxNames) return true;
  if (first_time)
    cursor_.error("profile-size", entry, "the profile has more than " + std::to_string(kMaxNames) + " rules");
  return false;
}

}  // namespace seccompress::read
