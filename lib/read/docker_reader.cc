// SPDX-License-Identifier: Apache-2.0
// Input: a docker-format profile. Output: a policy for Options. Entry point: read_docker.
//
// Source: moby profiles/seccomp/seccomp_linux.go (setupSeccomp). Per entry, excludes first: out when the
// machine is in excludes.arches, when ANY of excludes.caps is held, when the kernel is at least
// excludes.minKernel; then includes: out when the machine is not in a non-empty includes.arches, unless ALL of
// includes.caps are held, when the kernel is below includes.minKernel. archMap gives the architectures of the
// first entry whose architecture is the machine's; none: the machine's alone.
// String errnos (errno, defaultErrno) are containers/common's.
#include "read/docker_reader.h"

#include <algorithm>

#include "read/profile_reader.h"

namespace seccompress::read {
namespace {

using json::Kind;
using json::Value;

bool absent(const Value* value) { return value == nullptr || value->kind == Kind::null; }

// One of includes and excludes.
struct Filter {
  std::vector<std::string> arches;
  std::vector<std::string> caps;
  std::optional<KernelVersion> min_kernel;
};

class DockerProfile {
 public:
  DockerProfile(json::Cursor& cursor, const Options& options) : cursor_(cursor), options_(options) {}

  policy::Policy read(const Value& profile) {
    cursor_.check_keys(profile, {"defaultAction", "defaultErrnoRet", "defaultErrno", "architectures", "archMap",
                                 "flags", "listenerPath", "listenerMetadata", "syscalls", "comment"});
    ProfileReader reader(cursor_, options_);
    policy::Policy policy = reader.read(profile, {.string_errnos = true,
                                                  .single_name = true,
                                                  .native_token = true,
                                                  .applies = [this](const Value& entry) { return applies(entry); }});
    read_architectures(reader, policy, profile);
    reader.add_native(policy);
    return policy;
  }

 private:
  void read_architectures(ProfileReader& reader, policy::Policy& policy, const Value& profile) {
    const Value* list = profile.find("architectures");
    const Value* map = profile.find("archMap");
    const bool has_list = !absent(list) && !list->elements.empty();
    const bool has_map = !absent(map) && !map->elements.empty();
    if (has_list && has_map) {
      cursor_.error("architectures-and-archmap", *map, "\"architectures\" and \"archMap\" exclude each other",
                    "keep one");
      return;
    }
    if (!absent(list)) reader.add_architectures(policy, *list, true);
    if (absent(map)) return;
    if (const std::vector<Value>* entries = cursor_.list(*map)) read_arch_map(reader, policy, *entries);
  }

  void read_arch_map(ProfileReader& reader, policy::Policy& policy, const std::vector<Value>& entries) {
    bool found = false;
    for (const Value& entry : entries) {
      if (!cursor_.expect(entry, Kind::object)) continue;
      cursor_.check_keys(entry, {"architecture", "subArchitectures"});
      const Value* name = cursor_.require(entry, "architecture");
      const std::string* text = name == nullptr ? nullptr : cursor_.string(*name);
      if (text == nullptr || found || abi::arch_from_oci(*text) != options_.arch) continue;
      found = true;
      reader.add_architecture(policy, *name, false);
      if (const Value* subs = entry.find("subArchitectures"); !absent(subs))
        reader.add_architectures(policy, *subs, false);
    }
  }

  // nullopt: reported.
  std::optional<bool> applies(const Value& entry) {
    cursor_.check_keys(entry,
                       {"names", "name", "action", "errnoRet", "errno", "args", "comment", "includes", "excludes"});
    const auto excludes = read_filter(entry.find("excludes"));
    const auto includes = read_filter(entry.find("includes"));
    if (!excludes || !includes) return std::nullopt;
    return !is_excluded(*excludes) && is_included(*includes);
  }

  bool is_excluded(const Filter& filter) const {
    return lists_machine(filter) || std::any_of(filter.caps.begin(), filter.caps.end(), held()) ||
           (filter.min_kernel && options_.kernel >= *filter.min_kernel);
  }
  bool is_included(const Filter& filter) const {
    return (filter.arches.empty() || lists_machine(filter)) &&
           std::all_of(filter.caps.begin(), filter.caps.end(), held()) &&
           !(filter.min_kernel && options_.kernel < *filter.min_kernel);
  }

  std::function<bool(const std::string&)> held() const {
    return [this](const std::string& cap) { return options_.caps.count(cap) > 0; };
  }
  bool lists_machine(const Filter& filter) const {
    return std::find(filter.arches.begin(), filter.arches.end(), abi::facts(options_.arch).docker) !=
           filter.arches.end();
  }

  std::optional<Filter> read_filter(const Value* object) {
    Filter filter;
    if (absent(object)) return filter;
    if (!cursor_.expect(*object, Kind::object)) return std::nullopt;
    cursor_.check_keys(*object, {"caps", "arches", "minKernel"});
    if (!read_strings(*object, "arches", filter.arches) || !read_strings(*object, "caps", filter.caps))
      return std::nullopt;
    warn_unknown_caps(*object);
    const Value* kernel = object->find("minKernel");
    if (absent(kernel)) return filter;
    const std::string* text = cursor_.string(*kernel);
    if (text == nullptr) return std::nullopt;
    if (text->empty()) return filter;
    const auto version = parse_kernel(*text);
    if (!version) {
      cursor_.error("kernel-version", *kernel, "minKernel is no kernel version", "write \"4.8\"");
      return std::nullopt;
    }
    filter.min_kernel = *version;
    return filter;
  }

  bool read_strings(const Value& object, std::string_view key, std::vector<std::string>& into) {
    const Value* list = object.find(key);
    if (absent(list)) return true;
    auto strings = cursor_.strings(*list);
    if (!strings) return false;
    into = std::move(*strings);
    return true;
  }

  void warn_unknown_caps(const Value& object) {
    const Value* list = object.find("caps");
    if (list == nullptr) return;
    for (const Value& cap : list->elements)
      if (!is_capability(cap.text))
        cursor_.warning("unknown-capability", cap, "not a capability, so never held", "write it as \"CAP_SYS_ADMIN\"");
  }

  json::Cursor& cursor_;
  const Options& options_;
};

}  // namespace

Result<policy::Policy> read_docker(std::string_view text, const std::string& name, const Options& options,
                                   Diagnostics& diagnostics) {
  const std::size_t earlier = diagnostics.error_count();
  TRY_ASSIGN(const json::Document document, json::parse(text, name, diagnostics));
  json::Cursor cursor(document, diagnostics);
  if (!cursor.expect(document.root(), Kind::object)) return reported();
  policy::Policy policy = DockerProfile(cursor, options).read(document.root());
  if (diagnostics.error_count() > earlier) return reported();
  return policy;
}

}  // namespace seccompress::read
