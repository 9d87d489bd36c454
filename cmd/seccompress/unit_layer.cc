// SPDX-License-Identifier: Apache-2.0
#include "unit_layer.h"

#include "host/unit_search.h"
#include "support/file.h"

namespace seccompress::cmd {

Result<read::Source> load_unit(const read::LayerSpec& spec) {
  TRY_ASSIGN(const host::UnitPaths paths, host::find_unit(spec.location));
  read::Source source{{"systemd", paths.fragment}, {}, {}};
  TRY_ASSIGN(source.bytes, read_file(paths.fragment, read::kMaxInputBytes));
  std::size_t left = read::kMaxInputBytes - source.bytes.size();
  for (const std::string& path : paths.drop_ins) {
    TRY_ASSIGN(std::string text, read_file(path, left));
    left -= text.size();
    source.beside.push_back({path, std::move(text)});
  }
  return source;
}

}  // namespace seccompress::cmd
