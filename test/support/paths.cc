// SPDX-License-Identifier: Apache-2.0
#include "support/paths.h"

namespace seccompress::test {

const char* const kTestData = TEST_DATA;
const char* const kProfiles = PROFILES;
const char* const kCorpus = CORPUS;

}  // namespace seccompress::test
