// SPDX-License-Identifier: Apache-2.0
// A verdict is the 32-bit word that a filter returns: action in the high half, data in the low half.
// Source of every rule here: kernel/seccomp.c (seccomp_run_filters, __seccomp_filter).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace seccompress::abi {

using Verdict = std::uint32_t;

enum class Action : std::uint8_t {
#define ACTION(name, word, oci, data) name,
#include "abi/action.def"
#undef ACTION
};

inline constexpr Verdict kKillProcess = 0x80000000U, kKillThread = 0x00000000U, kTrap = 0x00030000U,
                         kErrno = 0x00050000U, kUserNotif = 0x7fc00000U, kTrace = 0x7ff00000U, kLog = 0x7ffc0000U,
                         kAllow = 0x7fff0000U;

constexpr Verdict action_word(Verdict verdict) { return verdict & 0xffff0000U; }
constexpr std::uint16_t data(Verdict verdict) { return static_cast<std::uint16_t>(verdict & 0xffffU); }

// The kernel's order: ACTION_ONLY(ret) as a signed number; smaller is stricter. Unknown words take part.
constexpr std::int32_t strictness(Verdict verdict) { return static_cast<std::int32_t>(action_word(verdict)); }

// nullopt for an action word that the kernel does not know (it then acts as KILL_PROCESS).
std::optional<Action> action_of(Verdict verdict);
Verdict word_of(Action action);

// The one representative of everything `equal` to it (design: data of ALLOW, LOG, KILL_* and USER_NOTIF
// does not matter, ERRNO data is capped at 4095, unknown action words stay verbatim).
Verdict normalize(Verdict verdict);

// What the kernel makes of two filters: the smaller action wins, on a tie the newer filter's word stays.
constexpr Verdict stack(Verdict newer, Verdict older) { return strictness(older) < strictness(newer) ? older : newer; }

// "ALLOW", "ERRNO(1 EPERM)", "TRACE(7)", "KILL_PROCESS", "0x00060000 (unknown, acts as KILL_PROCESS)".
std::string to_string(Verdict verdict);
std::string_view oci_name(Action action);                      // "SCMP_ACT_ERRNO"
std::optional<Action> action_from_oci(std::string_view name);  // also "SCMP_ACT_KILL"

// "EPERM" -> 1 and back; names are Linux x86_64's (the OCI world has no others).
std::optional<int> errno_from_name(std::string_view name);
std::string_view errno_name(int number);  // empty when unknown

}  // namespace seccompress::abi
