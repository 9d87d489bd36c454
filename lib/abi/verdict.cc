// SPDX-License-Identifier: Apache-2.0
#include "abi/verdict.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace seccompress::abi {
namespace {

enum class Data { none, error_number, value };

struct Entry {
  Action action;
  Verdict word;
  std::string_view oci;
  Data data;
};

constexpr std::array kActions = {
#define ACTION(name, word, oci, data) Entry{Action::name, word, oci, Data::data},
#include "abi/action.def"
#undef ACTION
};

const Entry* find(Verdict verdict) {
  for (const Entry& entry : kActions)
    if (entry.word == action_word(verdict)) return &entry;
  return nullptr;
}

constexpr std::string_view kPrefix = "SCMP_ACT_";
constexpr Verdict kMaxErrno = 4095;  // include/linux/err.h MAX_ERRNO

}  // namespace

std::optional<Action> action_of(Verdict verdict) {
  const Entry* entry = find(verdict);
  if (entry == nullptr) return std::nullopt;
  return entry->action;
}

Verdict word_of(Action action) { return kActions.at(static_cast<std::size_t>(action)).word; }

Verdict normalize(Verdict verdict) {
  const Entry* entry = find(verdict);
  if (entry == nullptr) return verdict;
  switch (entry->data) {
    case Data::none: return entry->word;
    case Data::error_number: return entry->word | std::min<Verdict>(data(verdict), kMaxErrno);
    case Data::value: return verdict;
  }
  return verdict;
}

std::string to_string(Verdict verdict) {
  const Entry* entry = find(verdict);
  if (entry == nullptr) return fmt::format("{:#010x} (unknown, acts as KILL_PROCESS)", verdict);
  const std::string_view name = entry->oci == "SCMP_ACT_NOTIFY" ? "USER_NOTIF" : entry->oci.substr(kPrefix.size());
  switch (entry->data) {
    case Data::none: break;
    case Data::error_number: {
      const std::string_view symbol = errno_name(data(verdict));
      return symbol.empty() ? fmt::format("{}({})", name, data(verdict))
                            : fmt::format("{}({} {})", name, data(verdict), symbol);
    }
    case Data::value: return fmt::format("{}({})", name, data(verdict));
  }
  return std::string(name);
}

std::string_view oci_name(Action action) { return kActions.at(static_cast<std::size_t>(action)).oci; }

std::optional<Action> action_from_oci(std::string_view name) {
  if (name == "SCMP_ACT_KILL") return Action::kill_thread;
  for (const Entry& entry : kActions)
    if (entry.oci == name) return entry.action;
  return std::nullopt;
}

std::optional<int> errno_from_name(std::string_view name) {
  if (name.empty()) return std::nullopt;  // what numbers without a name are called
  if (name == "EWOULDBLOCK") return EAGAIN;
  if (name == "EDEADLOCK") return EDEADLK;
  if (name == "ENOTSUP") return EOPNOTSUPP;
  for (int number = 1; number < 256; ++number)
    if (errno_name(number) == name) return number;
  return std::nullopt;
}

std::string_view errno_name(int number) {
  const char* name = ::strerrorname_np(number);
  return name == nullptr || number == 0 ? std::string_view() : std::string_view(name);
}

}  // namespace seccompress::abi
