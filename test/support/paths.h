// SPDX-License-Identifier: Apache-2.0
// Where test inputs lie. Constants of one object file, not macros: so nothing else has to be compiled again when a
// checkout moves.
#pragma once

namespace seccompress::test {

extern const char* const kTestData;  // test/
extern const char* const kProfiles;  // profiles/
extern const char* const kCorpus;    // the shared corpus beside the checkout; may be absent

}  // namespace seccompress::test
