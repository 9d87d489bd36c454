// SPDX-License-Identifier: Apache-2.0
// Input: a folder. Output: its filters, oldest first. Entry point: read_folder.
// Bounds: kMaxFilters files, kMaxInputBytes over all of them; other names are not looked at.
#include <algorithm>
#include <filesystem>

#include "read/bpf_reader.h"
#include "support/file.h"

namespace seccompress::read {
namespace {

namespace fs = std::filesystem;

tl::unexpected<Error> refuse(Diagnostics& diagnostics, std::string_view code, const std::string& folder,
                             std::string what) {
  diagnostics.error(code, {.file = folder, .line = 0, .column = 0, .pointer = {}}, std::move(what));
  return reported();
}

Result<std::vector<std::string>> list_files(const std::string& folder, Diagnostics& diagnostics) {
  std::error_code status;
  std::vector<std::string> names;
  fs::directory_iterator entry(folder, status);
  for (; !status && entry != fs::directory_iterator(); entry.increment(status)) {
    const std::string name = entry->path().filename().string();
    if (!name.ends_with(".bpf")) continue;
    std::error_code kind_status;
    if (!entry->is_regular_file(kind_status))
      return refuse(diagnostics, "dir-entry", folder + '/' + name, "is not a regular file");
    names.push_back(name);
    if (names.size() > kMaxFilters)
      return refuse(diagnostics, "dir-size", folder, "more than " + std::to_string(kMaxFilters) + " filters");
  }
  if (status) return failure(status, folder);
  if (names.empty()) return refuse(diagnostics, "dir-empty", folder, "has no *.bpf files");
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Result<std::vector<NamedFilter>> read_folder(const std::string& folder, Diagnostics& diagnostics) {
  TRY_ASSIGN(const std::vector<std::string> names, list_files(folder, diagnostics));
  std::vector<NamedFilter> filters;
  std::size_t left = kMaxInputBytes;
  for (const std::string& name : names) {
    const std::string path = folder + '/' + name;
    TRY_ASSIGN(const std::string bytes, read_file(path, left));
    left -= bytes.size();
    TRY_ASSIGN(std::vector<NamedFilter> one, read_bpf(bytes, path, diagnostics));
    filters.push_back(std::move(one.front()));
  }
  return filters;
}

}  // namespace seccompress::read
