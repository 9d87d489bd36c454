// SPDX-License-Identifier: Apache-2.0
// Input: a proved program and what it was made of; later, a receipt's bytes. Output: the program again, as proved.
// Entry points: to_bytes, from_bytes. Where the bytes are kept is cache.h's.
// Method: text and bytes with their sizes, and a SHA-256 over all of it at the end. ReceiptReader, here, is the only
// code beside verify that makes a VerifiedProgram.
// Weakness: the checksum is against accidents. That nobody but root wrote the bytes is what owner and mode of the
// folder, of everything above it and of the entry are for: who can write as root needs no forged receipt.
#include "receipt/receipt.h"

#include <charconv>

#include "support/sha256.h"

namespace seccompress::receipt {

class ReceiptReader {
 public:
  static program::VerifiedProgram make(program::Code code) { return program::VerifiedProgram(std::move(code)); }
};

namespace {

constexpr std::string_view kHeader = "seccompress receipt 1\n";
constexpr std::size_t kHashDigits = 64;

void append(std::string& bytes, std::string_view name, std::string_view content) {
  bytes += std::string(name) + " " + std::to_string(content.size()) + "\n";
  bytes += content;
  bytes += '\n';
}

tl::unexpected<Error> malformed(const std::string& what) { return failure(Errc::malformed, "receipt: " + what); }

// Takes "NAME SIZE\nCONTENT\n" off the front.
Result<std::string> take(std::string_view& bytes, std::string_view name) {
  const std::string start = std::string(name) + " ";
  const std::size_t line = bytes.find('\n');
  if (!bytes.starts_with(start) || line == std::string_view::npos) return malformed("no " + std::string(name));
  std::size_t size = 0;
  const char* end = bytes.data() + line;
  const auto [stop, error] = std::from_chars(bytes.data() + start.size(), end, size);
  bytes.remove_prefix(line + 1);
  if (error != std::errc() || stop != end || size >= bytes.size() || bytes[size] != '\n')
    return malformed("the size of " + std::string(name) + " is wrong");
  std::string content(bytes.substr(0, size));
  bytes.remove_prefix(size + 1);
  return content;
}

}  // namespace

std::string to_bytes(std::string_view inputs, std::string_view about, program::CodeView code) {
  std::string bytes(kHeader);
  append(bytes, "inputs", inputs);
  append(bytes, "about", about);
  append(bytes, "program", program::to_bytes(code));
  return bytes + sha256(bytes) + "\n";
}

Result<Receipt> from_bytes(std::string_view bytes) {
  if (!bytes.starts_with(kHeader) || bytes.size() < kHeader.size() + kHashDigits + 1) return malformed("no header");
  const std::string_view body = bytes.substr(0, bytes.size() - kHashDigits - 1);
  if (sha256(body) + "\n" != bytes.substr(body.size())) return malformed("the checksum is wrong");
  std::string_view rest = body.substr(kHeader.size());
  TRY_ASSIGN(std::string inputs, take(rest, "inputs"));
  TRY_ASSIGN(std::string about, take(rest, "about"));
  TRY_ASSIGN(const std::string program, take(rest, "program"));
  if (!rest.empty()) return malformed("something follows the program");
  TRY_ASSIGN(program::Code code, program::from_bytes(program, "receipt"));
  TRY(program::check(code));
  return Receipt{std::move(inputs), std::move(about), ReceiptReader::make(std::move(code))};
}

}  // namespace seccompress::receipt
