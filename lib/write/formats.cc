// SPDX-License-Identifier: Apache-2.0
// Input: a proved program. Output: bytes or text in one of the formats of kFormats. Entry point: write().
// A new format is one line in kFormats and one case in write().
#include "write/formats.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <iterator>

namespace seccompress::write {
namespace {

constexpr std::array<FormatFacts, 4> kFormats = {{
    {Format::bpf, "bpf", "raw struct sock_filter[], native endian", true},
    {Format::base64, "base64", "the same in base64, as crun's annotation run.oci.seccomp_bpf_data takes it", false},
    {Format::assembly, "asm", "a readable listing", false},
    {Format::c, "c", "a C array with the listing as comments", false},
}};

std::string c_array(program::CodeView code) {
  std::string text = fmt::format(
      "#include <linux/filter.h>\n\nstatic const struct sock_filter seccompress_program[{}] = {{\n", code.size());
  std::string listing = program::disassemble(code);
  std::string_view rest = listing;
  for (const program::Instruction& i : code) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    text +=
        fmt::format("  {{0x{:02x}, {:3}, {:3}, 0x{:08x}}},  /* {} */\n", i.code, i.jt, i.jf, i.k, rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return text + "};\n";
}

}  // namespace

std::span<const FormatFacts> formats() { return kFormats; }

std::optional<Format> format_from_name(std::string_view name) {
  for (const FormatFacts& facts : kFormats)
    if (facts.name == name) return facts.format;
  return std::nullopt;
}

std::string to_base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t have = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8U | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) text += k <= have ? kDigits[group >> (18 - 6 * k) & 63U] : '=';
  }
  return text;
}

std::string write(const program::VerifiedProgram& program, Format format) {
  switch (format) {
    case Format::bpf: return program::to_bytes(program.view());
    case Format::base64: return to_base64(program::to_bytes(program.view())) + '\n';
    case Format::assembly: return program::disassemble(program.view());
    case Format::c: return c_array(program.view());
  }
  return {};
}

}  // namespace seccompress::write
