// SPDX-License-Identifier: Apache-2.0
#include "filter_folder.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include "support/file.h"

namespace seccompress::cmd {

std::string filter_file_name(std::size_t index, std::size_t count) {
  const std::size_t width = std::max<std::size_t>(2, std::to_string(count - 1).size());
  return fmt::format("{:0{}}.bpf", index, width);
}

namespace {

Result<void> write_files(const std::string& folder, const std::vector<std::pair<std::string, std::string>>& files) {
  for (const auto& [name, bytes] : files) TRY(write_file_atomically(folder + '/' + name, bytes));
  return {};
}

}  // namespace

Result<void> write_filter_folder(std::string folder, const std::vector<std::pair<std::string, std::string>>& files) {
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  std::string temporary = folder + ".XXXXXX";
  if (::mkdtemp(temporary.data()) == nullptr) return errno_failure(folder + ": cannot create a folder beside it");
  Result<void> done = write_files(temporary, files);
  if (done && ::chmod(temporary.c_str(), 0755) != 0) done = errno_failure(folder + ": chmod");
  if (done && ::rename(temporary.c_str(), folder.c_str()) != 0) {
    done = errno == ENOTEMPTY || errno == EEXIST
               ? failure(Errc::refused, folder + ": exists and is not empty; name a new folder")
               : errno_failure(folder);
  }
  std::error_code ignored;
  if (!done) std::filesystem::remove_all(temporary, ignored);
  return done;
}

}  // namespace seccompress::cmd
