// SPDX-License-Identifier: Apache-2.0
// Input: a unit file or fragment with its drop-ins. Output: the filters that systemd installs for it. Entry points:
// read_systemd, read_drop_ins.
//
// Method: unit_file.h cuts the texts into assignments, systemd_settings.h adds them up, systemd_filters.h writes the
// filters down. The unit's text comes first, then PATH.d/*.conf by name.
// Bounds: kMaxInputBytes over all texts, kMaxDropIns, kMaxAssignments, kMaxWords.
// Not looked at: drop-ins elsewhere (/etc against /usr/lib, service.d, foo-.service.d) and system.conf.
#include "read/systemd_reader.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "abi/systemd_groups.h"
#include "read/systemd_filters.h"
#include "read/systemd_settings.h"
#include "read/unit_file.h"
#include "support/file.h"

namespace seccompress::read {
namespace {

namespace fs = std::filesystem;

struct UnitType {
  std::string_view suffix, section;
};
constexpr std::array kUnitTypes = {UnitType{".service", "Service"}, UnitType{".socket", "Socket"},
                                   UnitType{".mount", "Mount"}, UnitType{".swap", "Swap"}};

const UnitType* type_of(std::string_view name) {
  for (const UnitType& type : kUnitTypes)
    if (name.ends_with(type.suffix)) return &type;
  return nullptr;
}

// "x.service", "x.service.conf" (a fragment of one) or "x.service.d/y.conf".
const UnitType* unit_type(std::string_view path) {
  const auto slash = path.rfind('/');
  std::string_view name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (!name.ends_with(".conf")) return type_of(name);
  name.remove_suffix(5);
  if (const UnitType* type = type_of(name)) return type;
  const std::string_view folder = slash == std::string_view::npos ? "" : path.substr(0, slash);
  return folder.ends_with(".d") ? type_of(folder.substr(0, folder.size() - 2)) : nullptr;
}

Location whole(const std::string& file) { return {.file = file, .line = 0, .column = 0, .pointer = {}}; }

bool is_masked(const std::string& path) {
  struct stat status {};
  constexpr dev_t kNull = 0x103;  // /dev/null
  return ::stat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == kNull;
}

void warn_version(const std::string& path, const Options& options, Diagnostics& diagnostics) {
  if (options.systemd_version <= abi::kNewestSystemd) return;
  diagnostics.warning("systemd-version", whole(path),
                      "nothing is known of systemd " + std::to_string(options.systemd_version) + "; read as " +
                          std::to_string(abi::kNewestSystemd));
}

}  // namespace

bool looks_like_unit(std::string_view path, std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '{') return false;
  return unit_type(path) != nullptr || unit::has_exec_section(text);
}

Result<std::vector<NamedText>> read_drop_ins(const std::string& path, Diagnostics& diagnostics) {
  std::error_code status;
  std::vector<std::string> names;
  fs::directory_iterator entry(path + ".d", status);
  if (status == std::errc::no_such_file_or_directory || status == std::errc::not_a_directory)
    return std::vector<NamedText>();
  for (; !status && entry != fs::directory_iterator(); entry.increment(status)) {
    std::string name = entry->path().filename().string();
    if (name.ends_with(".conf") && name.front() != '.') names.push_back(std::move(name));
    if (names.size() > kMaxDropIns) {
      diagnostics.error("systemd-size", whole(path + ".d"), "more than " + std::to_string(kMaxDropIns) + " drop-ins");
      return reported();
    }
  }
  if (status) return failure(status, path + ".d");
  std::sort(names.begin(), names.end());
  std::vector<NamedText> texts;
  std::size_t left = kMaxInputBytes;
  for (const std::string& name : names) {
    const std::string file = path + ".d/" + name;
    if (is_masked(file)) continue;
    TRY_ASSIGN(std::string text, read_file(file, left));
    left -= text.size();
    texts.push_back({file, std::move(text)});
  }
  return texts;
}

Result<std::vector<NamedPolicy>> read_systemd(std::string_view text, const std::string& path,
                                              std::span<const NamedText> drop_ins, const Options& options,
                                              Diagnostics& diagnostics) {
  const std::size_t earlier = diagnostics.error_count();
  if (options.systemd_version < abi::kOldestSystemd)
    return failure(Errc::inexact, path + ": systemd " + std::to_string(options.systemd_version) + " is older than " +
                                      std::to_string(abi::kOldestSystemd) + ", the oldest that can be read for");
  warn_version(path, options, diagnostics);
  const UnitType* type = unit_type(path);
  const std::string section(type == nullptr ? "" : type->section);
  systemd::SettingsReader reader(options, section, diagnostics);
  const unit::Visitor visit = [&](const unit::Assignment& assignment) { reader.apply(assignment); };
  TRY(unit::parse(text, path, diagnostics, visit));
  for (const NamedText& drop_in : drop_ins) TRY(unit::parse(drop_in.text, drop_in.name, diagnostics, visit));
  if (!reader.seen_section())
    diagnostics.error("systemd-section", whole(path),
                      "no assignment in [" + (section.empty() ? "Service" : section) + ']',
                      "a unit without one has no filters, so this is hardly the file that was meant");
  if (diagnostics.error_count() > earlier) return reported();
  return systemd::filters_of(reader.finish(), path, options, diagnostics);
}

}  // namespace seccompress::read
