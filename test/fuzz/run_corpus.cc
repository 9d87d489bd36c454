// SPDX-License-Identifier: Apache-2.0
// Runs a fuzz target over the files of its corpus folder, in name order: the fuzzing test of every build, whatever
// the compiler. Fails when the folder is empty: a corpus that went missing must not look like success.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <set>
#include <string>

#include "support/file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(argv[1]))
    if (entry.is_regular_file()) files.insert(entry.path());
  for (const std::string& file : files) {
    const auto bytes = seccompress::read_file(file, std::size_t{16} << 20);
    if (!bytes) {
      std::fprintf(stderr, "%s\n", seccompress::to_string(bytes.error()).c_str());
      return 1;
    }
    std::printf("%s\n", file.c_str());
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes->data()), bytes->size());
  }
  std::printf("%zu inputs\n", files.size());
  return files.empty() ? 1 : 0;
}
