// SPDX-License-Identifier: Apache-2.0
// A program that verify proved equal to a stack. Only verify makes one, and the one named receipt reader
// (receipt/receipt.cc) from the record of such a proof: root's own file, checksum and kernel rules checked. install
// takes nothing else, so installing an unproved program does not compile.
#pragma once

#include <utility>

#include "program/program.h"

namespace seccompress::verify {
class ProgramMaker;  // verify/verify.cc
}
namespace seccompress::receipt {
class ReceiptReader;  // receipt/receipt.cc; no third friend
}

namespace seccompress::program {

class VerifiedProgram {
 public:
  const Code& code() const { return code_; }
  CodeView view() const { return code_; }

 private:
  friend class ::seccompress::verify::ProgramMaker;
  friend class ::seccompress::receipt::ReceiptReader;
  explicit VerifiedProgram(Code code) : code_(std::move(code)) {}
  Code code_;
};

}  // namespace seccompress::program
