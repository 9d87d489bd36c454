// SPDX-License-Identifier: Apache-2.0
// A program that verify proved equal to a stack. Only verify makes one (and, later, the one named receipt
// reader); install takes nothing else, so installing an unproved program does not compile.
#pragma once

#include <utility>

#include "program/program.h"

namespace seccompress::verify {
class ProgramMaker;  // verify/verify.cc: the only friend
}

namespace seccompress::program {

class VerifiedProgram {
 public:
  const Code& code() const { return code_; }
  CodeView view() const { return code_; }

 private:
  friend class ::seccompress::verify::ProgramMaker;
  explicit VerifiedProgram(Code code) : code_(std::move(code)) {}
  Code code_;
};

}  // namespace seccompress::program
