// SPDX-License-Identifier: Apache-2.0
// Proofs kept on disk: a program that verify proved, with all that it was made of.
#pragma once

#include <string>
#include <string_view>

#include "program/verified_program.h"
#include "support/result.h"

namespace seccompress::receipt {

struct Receipt {
  std::string inputs;  // everything that the program depends on, as one text; its SHA-256 is the entry's name
  std::string about;   // provenance, for records
  program::VerifiedProgram program;
};

// What an entry holds, without its place. Errors (Errc::malformed): anything that is not byte for byte what was
// written: header, sizes, checksum, and the kernel's rules for the program.
std::string to_bytes(std::string_view inputs, std::string_view about, program::CodeView code);
Result<Receipt> from_bytes(std::string_view bytes);

}  // namespace seccompress::receipt
