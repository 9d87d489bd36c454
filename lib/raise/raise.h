// SPDX-License-Identifier: Apache-2.0
// VERB: Program -> Diagram.
#pragma once

#include "diagram/store.h"
#include "program/program.h"
#include "support/result.h"

namespace seccompress::raise {

// `code` has passed program::check. What no diagram can hold (relations of two words, products, verdicts computed from
// arguments) becomes terminals of carried code. Errors: Errc::budget.
Result<diagram::Node> raise(program::CodeView code, diagram::Store& store);

// Nothing but loads, masks and tests with constants: no code is ever carried.
bool is_plain(program::CodeView code);

// All that does not depend on arch and nr alone as carried code, in the program's own order: larger, and nearer to the
// original for who compares the two.
Result<diagram::Node> raise_as_code(program::CodeView code, diagram::Store& store);

}  // namespace seccompress::raise
