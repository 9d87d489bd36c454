// SPDX-License-Identifier: Apache-2.0
// Code that no diagram holds, cut to each number: what remains constant there folds away.
#pragma once

#include "diagram/store.h"
#include "program/program.h"
#include "support/result.h"

namespace seccompress::raise {

// `code` as a program of its own. A diagram over arch and nr to verdicts and carried code.
Result<diagram::Node> carry(program::CodeView code, diagram::Store& store);

}  // namespace seccompress::raise
