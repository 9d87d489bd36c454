// SPDX-License-Identifier: Apache-2.0
// VERB: Program -> Diagram.
#pragma once

#include "diagram/store.h"
#include "program/program.h"
#include "support/result.h"

namespace seccompress::raise {

// `code` has passed program::check. Errors: Errc::inexact for code whose function is not a finite set of
// word tests (X, scratch memory, arithmetic on loaded words, RET A of a loaded word), naming the
// instruction; Errc::budget.
Result<diagram::Node> raise(program::CodeView code, diagram::Store& store);

}  // namespace seccompress::raise
