// SPDX-License-Identifier: Apache-2.0
// VERB: VerifiedProgram -> the text or bytes that others take.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "program/verified_program.h"

namespace seccompress::write {

enum class Format : std::uint8_t {
  bpf,       // raw sock_filter[], native endian: seccomp(2), bubblewrap, crun's seccomp.bpf
  base64,    // the same in base64, one line: crun's annotation run.oci.seccomp_bpf_data
  assembly,  // a readable listing
  c,         // a C array with the listing as comments
};

struct FormatFacts {
  Format format;
  std::string_view name;  // as `--format` takes it
  std::string_view summary;
  bool binary;  // not for a terminal
};
std::span<const FormatFacts> formats();
std::optional<Format> format_from_name(std::string_view name);

std::string write(const program::VerifiedProgram& program, Format format);

// RFC 4648 base64 with padding, no line breaks.
std::string to_base64(std::string_view bytes);

}  // namespace seccompress::write
