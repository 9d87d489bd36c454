// SPDX-License-Identifier: Apache-2.0
// Programs that an earlier start composed, and how one is known again: by everything that it was made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bundle/settings.h"
#include "pipeline.h"
#include "program/verified_program.h"
#include "receipt/programs.h"

namespace seccompress::hooks {

std::string kernel_release();  // "" when the kernel does not say

// What one program is made of. The weights, the reading of layers and the composing itself are the build id's.
struct Ingredients {
  enum class Kind : std::uint8_t {
    host,       // the host layers alone
    predicted,  // with what config.json says
    merged,     // with the container's own program
  };
  Kind kind = Kind::host;
  std::vector<std::vector<program::Code>> host;       // filters of each layer, oldest first
  std::optional<std::vector<program::Code>> profile;  // config.json's, which may join on a mismatch
  bundle::OnMismatch on_mismatch = bundle::OnMismatch::strictest;
  program::Code container;  // as read at the install call or from crun's file
  std::uint32_t flags = 0;  // with which the runtime would install it
  std::string build, kernel;
};
// One text: differs whenever an ingredient does.
std::string inputs_text(const Ingredients& ingredients);

// Beside the program: what a record needs and would take as long to find out as to compose it.
struct Composed {
  bool with_profile = false;  // the profile joined the stack as a layer of its own
  std::string mismatch;       // the witness
};

// The programs of earlier starts, for one start. Without a folder of receipts it knows none and keeps none.
class Compositions {
 public:
  explicit Compositions(const std::string& receipts) : programs_(receipts), off_(receipts.empty()) {}

  struct Known {
    program::VerifiedProgram program;
    std::string program_sha256;  // as kept: the bytes that are installed have to hash to it
    Composed composed;
  };
  std::optional<Known> recall(const std::string& inputs);
  // For keep(); the program is one that was proved for these inputs.
  void remember(std::string inputs, Composed composed, program::VerifiedProgram program);
  // Writes what this start made. After the container was let go: never fails, never waits.
  void keep();

  // What went wrong, for the record. None of it matters to the container.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  struct Fresh {
    std::string inputs, about;
    program::VerifiedProgram program;
  };
  void note(std::string text);

  receipt::Programs programs_;
  std::vector<Fresh> fresh_;
  std::vector<std::string> notes_;
  bool off_;
};

}  // namespace seccompress::hooks
