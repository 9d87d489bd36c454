// SPDX-License-Identifier: Apache-2.0
// Any bytes as a systemd layer without drop-ins: what is accepted must lower (or hit a stated limit) without a crash.
#include <cstdint>

#include "support/fuzz_layer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  seccompress::test::fuzz_layer("systemd", {reinterpret_cast<const char*>(bytes), size});
  return 0;
}
