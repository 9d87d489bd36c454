// SPDX-License-Identifier: Apache-2.0
// Input: a unit's name. Output: its files. Entry point: find_unit.
// Method, after systemd 252 (src/shared/unit-file.c unit_file_build_name_map, src/shared/dropin.c
// unit_file_find_dropin_paths): the first folder that has a name wins; a link into the unit path is an alias, any other
// link a file of that name; drop-ins are collected for every name of the unit, then by file name, the first one wins.
// Weaknesses: units that generators would make only under a manager, and system.conf, are not seen.
#include "host/unit_search.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "support/file.h"

namespace seccompress::host {
namespace {

constexpr std::size_t kMaxNameBytes = 255, kMaxEntries = 65536, kMaxNames = 256, kMaxDropIns = 256;
constexpr unsigned kMaxAliases = 16;
constexpr std::array<std::string_view, 4> kTypes = {"service", "socket", "mount", "swap"};

// "prefix@instance.type"; at is whether there is an '@' at all.
struct Name {
  std::string prefix, instance, type;
  bool at = false;

  bool is_template() const { return at && instance.empty(); }
  bool is_instance() const { return at && !instance.empty(); }
  std::string text() const { return prefix + (at ? "@" + instance : "") + "." + type; }
  Name as_template() const { return {prefix, "", type, true}; }
};

bool is_allowed(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view(":-_.\\@").find(c) != std::string_view::npos;
}

// unit_name_is_valid() of src/basic/unit-name.c. nullopt: no unit's name.
std::optional<Name> parse_name(std::string_view text) {
  if (text.size() > kMaxNameBytes || !std::all_of(text.begin(), text.end(), is_allowed)) return std::nullopt;
  const std::size_t dot = text.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  Name name;
  name.type = text.substr(dot + 1);
  const std::string_view stem = text.substr(0, dot);
  const std::size_t at = stem.find('@');
  name.at = at != std::string_view::npos;
  name.prefix = stem.substr(0, at);
  if (name.at) name.instance = stem.substr(at + 1);
  if (name.prefix.empty()) return std::nullopt;
  return name;
}

// Names in a folder; none when it is not there.
Result<std::vector<std::string>> list(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(folder.c_str()), ::closedir);
  if (open == nullptr && (errno == ENOENT || errno == ENOTDIR)) return names;
  if (open == nullptr) return errno_failure(folder);
  while (const dirent* entry = ::readdir(open.get())) {
    if (names.size() == kMaxEntries)
      return failure(Errc::budget, folder + ": more than " + std::to_string(kMaxEntries) + " entries");
    names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Where a link leads by its own words; empty: no link.
std::string link_target(const std::string& path, const std::string& root) {
  char buffer[PATH_MAX];
  const ssize_t n = ::readlink(path.c_str(), buffer, sizeof buffer);
  if (n <= 0) return {};
  const std::string target(buffer, static_cast<std::size_t>(n));
  if (target.front() == '/') return root + target;
  return path.substr(0, path.rfind('/') + 1) + target;
}

class Search {
 public:
  explicit Search(const std::string& root) : root_(root) {
    for (const std::string& folder : unit_path()) {
      const std::string real = real_path(root + folder);
      if (!real.empty() && std::find(folders_.begin(), folders_.end(), real) == folders_.end())
        folders_.push_back(real);
    }
  }

  Result<UnitPaths> find(const Name& wanted) {
    Name name = wanted;
    for (unsigned hops = 0; hops < kMaxAliases; ++hops) {
      TRY_ASSIGN(const std::string path, file_of(name));
      const auto alias = alias_of(path, name);
      if (alias) {
        name = *alias;
        continue;
      }
      TRY(check(path, name));
      UnitPaths found{name.text(), real_path(path), {}};
      TRY_ASSIGN(found.drop_ins, drop_ins(name, found.fragment.ends_with("/" + name.as_template().text())));
      return found;
    }
    return failure(Errc::malformed, wanted.text() + ": its aliases lead in a circle");
  }

 private:
  // The most important file of that name, an instance's own before its template's.
  Result<std::string> file_of(const Name& name) const {
    for (const Name& one : {name, name.as_template()}) {
      if (one.text() != name.text() && !name.is_instance()) break;
      for (const std::string& folder : folders_) {
        struct stat status {};
        const std::string path = folder + "/" + one.text();
        if (::lstat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) return path;
      }
    }
    return failure(std::make_error_code(std::errc::no_such_file_or_directory),
                   name.text() +
                       ": this host has no such unit (looked for in the folders of systemd-analyze "
                       "unit-paths)");
  }

  bool is_folder_of_units(const std::string& folder) const {
    return std::find(folders_.begin(), folders_.end(), real_path(folder)) != folders_.end();
  }

  // The unit that a file is another name of; nullopt: it is the unit itself.
  std::optional<Name> alias_of(const std::string& path, const Name& name) const {
    const std::string target = link_target(path, root_);
    const std::size_t slash = target.rfind('/');
    if (slash == std::string::npos || !is_folder_of_units(target.substr(0, slash))) return std::nullopt;
    auto to = parse_name(target.substr(slash + 1));
    if (!to || to->type != name.type || to->text() == name.text()) return std::nullopt;
    if (to->is_template() && name.is_instance()) to->instance = name.instance;
    if (to->text() == name.text()) return std::nullopt;  // an instance's link to its template
    return to;
  }

  Result<void> check(const std::string& path, const Name& name) const {
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) return errno_failure(name.text() + ": " + path);
    constexpr dev_t kNull = 0x103;  // /dev/null
    const bool null = S_ISCHR(status.st_mode) && status.st_rdev == kNull;
    if (null || (S_ISREG(status.st_mode) && status.st_size == 0))
      return failure(Errc::refused, name.text() + ": is masked by " + path + "; a masked unit never starts");
    if (!S_ISREG(status.st_mode)) return failure(Errc::refused, name.text() + ": " + path + " is not a regular file");
    return {};
  }

  // All names of the unit: links in the unit path that lead to it, and theirs. A template's count for its instances
  // that have no file of their own.
  Result<std::vector<std::string>> names_of(const Name& name, bool from_template) const {
    std::vector<std::string> aliases;
    for (const std::string& folder : folders_) {
      TRY_ASSIGN(const std::vector<std::string> entries, list(folder));
      for (const std::string& entry : entries) {
        const auto other = parse_name(entry);
        if (!other || other->type != name.type || link_target(folder + "/" + entry, root_).empty()) continue;
        if ((other->is_template() && !from_template) || !leads_to(*other, name)) continue;
        Name alias = *other;
        if (alias.is_template() && name.is_instance()) alias.instance = name.instance;
        if (alias.text() != name.text()) aliases.push_back(alias.text());
        if (aliases.size() > kMaxNames) return failure(Errc::budget, name.text() + ": too many aliases");
      }
    }
    std::sort(aliases.begin(), aliases.end());
    aliases.erase(std::unique(aliases.begin(), aliases.end()), aliases.end());
    aliases.insert(aliases.begin(), name.text());
    return aliases;
  }

  bool leads_to(Name from, const Name& to) const {
    if (from.is_template() && to.is_instance()) from.instance = to.instance;
    for (unsigned hops = 0; hops < kMaxAliases; ++hops) {
      const auto path = file_of(from);
      const auto next = path ? alias_of(*path, from) : std::nullopt;
      if (!next) return false;
      if (next->text() == to.text()) return true;
      from = *next;
    }
    return false;
  }

  // unit_file_process_dir(): the name itself, its template, and what is left when words are chopped off at dashes.
  static void add_folders(const std::string& folder, const Name& name, std::vector<std::string>& folders) {
    folders.push_back(folder + "/" + name.text() + ".d");
    if (name.is_instance()) add_folders(folder, name.as_template(), folders);
    std::string prefix = name.prefix;
    if (prefix.ends_with('-')) prefix.pop_back();
    const std::size_t dash = prefix.rfind('-');
    if (dash == std::string::npos || dash == 0) return;
    // An instance's shorter name is an instance, a template's is plain.
    add_folders(folder, {prefix.substr(0, dash + 1), name.instance, name.type, name.is_instance()}, folders);
  }

  Result<std::vector<std::string>> drop_ins(const Name& name, bool from_template) const {
    TRY_ASSIGN(const std::vector<std::string> names, names_of(name, from_template));
    std::vector<std::string> folders;
    for (const std::string& one : names)
      for (const std::string& folder : folders_) add_folders(folder, *parse_name(one), folders);
    for (const std::string& folder : folders_) folders.push_back(folder + "/" + name.type + ".d");
    std::map<std::string, std::string> by_name;
    for (const std::string& folder : folders) {
      TRY_ASSIGN(const std::vector<std::string> entries, list(folder));
      for (const std::string& entry : entries)
        if (entry.ends_with(".conf") && entry.front() != '.') by_name.try_emplace(entry, folder + "/" + entry);
      if (by_name.size() > kMaxDropIns)
        return failure(Errc::budget, name.text() + ": more than " + std::to_string(kMaxDropIns) + " drop-ins");
    }
    std::vector<std::string> paths;
    for (const auto& [file, path] : by_name) {
      const std::string real = real_path(path);
      if (real.empty()) return errno_failure(path);
      if (real != "/dev/null") paths.push_back(real);
    }
    return paths;
  }

  std::string root_;
  std::vector<std::string> folders_;
};

}  // namespace

const std::vector<std::string>& unit_path() {
  static const std::vector<std::string> folders = {
      "/etc/systemd/system.control",   "/run/systemd/system.control",  "/run/systemd/transient",
      "/run/systemd/generator.early",  "/etc/systemd/system",          "/etc/systemd/system.attached",
      "/run/systemd/system",           "/run/systemd/system.attached", "/run/systemd/generator",
      "/usr/local/lib/systemd/system", "/lib/systemd/system",          "/usr/lib/systemd/system",
      "/run/systemd/generator.late"};
  return folders;
}

Result<UnitPaths> find_unit(std::string_view name, const std::string& root) {
  std::string full(name);
  auto parsed = parse_name(full);
  const bool typed = parsed && std::find(kTypes.begin(), kTypes.end(), parsed->type) != kTypes.end();
  constexpr std::array<std::string_view, 7> kOthers = {"target", "timer",  "path",     "slice",
                                                       "scope",  "device", "automount"};
  if (parsed && !typed && std::find(kOthers.begin(), kOthers.end(), parsed->type) != kOthers.end())
    return failure(Errc::refused, full + ": a " + parsed->type + " starts no process that it could restrict");
  if (!typed) {
    full += ".service";
    parsed = parse_name(full);
  }
  if (!parsed) return failure(Errc::malformed, "'" + std::string(name) + "' is not the name of a unit");
  if (parsed->is_template())
    return failure(Errc::malformed,
                   full + ": a template; name an instance, as in " + parsed->prefix + "@x." + parsed->type);
  return Search(root).find(*parsed);
}

}  // namespace seccompress::host
