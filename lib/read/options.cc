// SPDX-License-Identifier: Apache-2.0
// Capabilities and kernel versions as people write them. Sources: include/uapi/linux/capability.h; moby
// oci/caps/defaults.go (docker), containers/common pkg/config/default.go (podman 4), CRI-O
// internal/config/capabilities.
#include <algorithm>
#include <array>
#include <charconv>

#include "read/reader.h"

namespace seccompress::read {
namespace {

constexpr std::array<std::string_view, 41> kCapabilities = {"CHOWN",
                                                            "DAC_OVERRIDE",
                                                            "DAC_READ_SEARCH",
                                                            "FOWNER",
                                                            "FSETID",
                                                            "KILL",
                                                            "SETGID",
                                                            "SETUID",
                                                            "SETPCAP",
                                                            "LINUX_IMMUTABLE",
                                                            "NET_BIND_SERVICE",
                                                            "NET_BROADCAST",
                                                            "NET_ADMIN",
                                                            "NET_RAW",
                                                            "IPC_LOCK",
                                                            "IPC_OWNER",
                                                            "SYS_MODULE",
                                                            "SYS_RAWIO",
                                                            "SYS_CHROOT",
                                                            "SYS_PTRACE",
                                                            "SYS_PACCT",
                                                            "SYS_ADMIN",
                                                            "SYS_BOOT",
                                                            "SYS_NICE",
                                                            "SYS_RESOURCE",
                                                            "SYS_TIME",
                                                            "SYS_TTY_CONFIG",
                                                            "MKNOD",
                                                            "LEASE",
                                                            "AUDIT_WRITE",
                                                            "AUDIT_CONTROL",
                                                            "SETFCAP",
                                                            "MAC_OVERRIDE",
                                                            "MAC_ADMIN",
                                                            "SYSLOG",
                                                            "WAKE_ALARM",
                                                            "BLOCK_SUSPEND",
                                                            "AUDIT_READ",
                                                            "PERFMON",
                                                            "BPF",
                                                            "CHECKPOINT_RESTORE"};

constexpr std::string_view kPrefix = "CAP_";

using Caps = std::set<std::string>;

Caps named(std::initializer_list<std::string_view> names) {
  Caps caps;
  for (const std::string_view name : names) caps.insert(std::string(kPrefix) + std::string(name));
  return caps;
}

std::string upper(std::string_view text) {
  std::string result;
  for (const char c : text) result += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return result;
}

Result<Caps> parse_mask(std::string_view digits) {
  std::uint64_t mask = 0;
  const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), mask, 16);
  if (status != std::errc() || end != digits.data() + digits.size())
    return failure(Errc::malformed, "capabilities: not a 64-bit hexadecimal mask");
  Caps caps;
  for (std::size_t bit = 0; bit < kCapabilities.size(); ++bit)
    if ((mask >> bit & 1U) != 0) caps.insert(std::string(kPrefix) + std::string(kCapabilities[bit]));
  return caps;
}

Result<Caps> parse_names(std::string_view text) {
  Caps caps;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(','));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    std::string name = upper(one);
    if (!name.starts_with(kPrefix)) name = std::string(kPrefix) + name;
    if (!is_capability(name)) return failure(Errc::malformed, "capabilities: unknown name \"" + std::string(one) + '"');
    caps.insert(std::move(name));
  }
  return caps;
}

}  // namespace

bool is_capability(std::string_view name) {
  if (!name.starts_with(kPrefix)) return false;
  return std::find(kCapabilities.begin(), kCapabilities.end(), name.substr(kPrefix.size())) != kCapabilities.end();
}

Caps docker_default_caps() {
  return named({"CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "MKNOD", "NET_RAW", "SETGID", "SETUID", "SETFCAP",
                "SETPCAP", "NET_BIND_SERVICE", "SYS_CHROOT", "KILL", "AUDIT_WRITE"});
}

Result<Caps> parse_caps(std::string_view text) {
  if (text == "default" || text == "default:docker") return docker_default_caps();
  if (text == "default:podman")
    return named({"CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "NET_BIND_SERVICE", "SETFCAP", "SETGID",
                  "SETPCAP", "SETUID", "SYS_CHROOT"});
  if (text == "default:crio")
    return named(
        {"CHOWN", "DAC_OVERRIDE", "FSETID", "FOWNER", "SETGID", "SETUID", "SETPCAP", "NET_BIND_SERVICE", "KILL"});
  if (text == "all") return parse_mask("1ffffffffff");
  if (text == "none") return Caps();
  if (text.starts_with("0x") || text.starts_with("0X")) return parse_mask(text.substr(2));
  return parse_names(text);
}

Result<KernelVersion> parse_kernel(std::string_view text) {
  KernelVersion version;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec == std::errc() && major.ptr != end && *major.ptr == '.') {
    const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
    const bool ends = minor.ptr == end || *minor.ptr == '.' || *minor.ptr == '-' || *minor.ptr == '+';
    if (minor.ec == std::errc() && ends) return version;
  }
  return failure(Errc::malformed, "kernel version: expected X.Y, as in \"6.1\"");
}

Result<unsigned> parse_systemd_version(std::string_view text) {
  const std::string_view digits = text.starts_with('v') ? text.substr(1) : text;
  unsigned version = 0;
  const char* end = digits.data() + digits.size();
  const auto [rest, status] = std::from_chars(digits.data(), end, version);
  if (status == std::errc() && (rest == end || *rest == '.' || *rest == '-' || *rest == '~')) return version;
  return failure(Errc::malformed, "systemd version: expected a number, as in \"252\"");
}

}  // namespace seccompress::read
