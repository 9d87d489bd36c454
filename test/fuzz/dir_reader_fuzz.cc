// SPDX-License-Identifier: Apache-2.0
// Bytes cut into files at each 0xff 0xff pair, read as a dir layer from a folder of their own.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "read/reader.h"
#include "support/file.h"

namespace {

using namespace seccompress;

void write_files(const std::string& folder, std::string_view bytes) {
  for (int i = 0; i < 16 && !bytes.empty(); ++i) {
    const std::size_t cut = std::min(bytes.find("\xff\xff"), bytes.size());
    if (!write_file_atomically(folder + '/' + std::to_string(i) + ".bpf", bytes.substr(0, cut))) std::abort();
    bytes.remove_prefix(std::min(cut + 2, bytes.size()));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  std::string folder = std::filesystem::temp_directory_path() / "dir-fuzz-XXXXXX";
  if (::mkdtemp(folder.data()) == nullptr) std::abort();
  write_files(folder, {reinterpret_cast<const char*>(bytes), size});
  Diagnostics diagnostics;
  const auto layer = read::read({"dir", folder}, {}, diagnostics);
  if (!layer && layer.error().code == make_error_code(Errc::reported) && !diagnostics.has_errors()) std::abort();
  std::filesystem::remove_all(folder);
  return 0;
}
