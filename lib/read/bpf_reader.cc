// SPDX-License-Identifier: Apache-2.0
// Input: bytes. Output: one filter. Entry point: read_bpf.
#include "read/bpf_reader.h"

namespace seccompress::read {

Result<std::vector<NamedFilter>> read_bpf(std::string_view bytes, const std::string& name, Diagnostics& diagnostics) {
  auto code = program::from_bytes(bytes, name);
  if (!code) {
    std::string what = code.error().what;
    if (what.starts_with(name + ": ")) what.erase(0, name.size() + 2);
    diagnostics.error("bpf-bytes", {.file = name, .line = 0, .column = 0, .pointer = {}}, std::move(what));
    return reported();
  }
  if (const auto accepted = program::check(*code); !accepted) {
    diagnostics.error("bpf-program", {.file = name, .line = 0, .column = 0, .pointer = {}}, accepted.error().what,
                      "the kernel refuses such a program");
    return reported();
  }
  std::vector<NamedFilter> filters;
  filters.push_back({name.substr(name.find_last_of('/') + 1), std::move(*code)});
  return filters;
}

}  // namespace seccompress::read
