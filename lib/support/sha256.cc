// SPDX-License-Identifier: Apache-2.0
// By nettle: 0.6 MB as an archive and no start-up code, where libcrypto would be the largest part of the hook.
#include "support/sha256.h"

#include <nettle/sha2.h>

#include <array>

namespace seccompress {

std::string sha256(std::string_view bytes) {
  sha256_ctx context;
  sha256_init(&context);
  sha256_update(&context, bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> digest{};
  sha256_digest(&context, digest.size(), digest.data());
  std::string text;
  for (const std::uint8_t byte : digest) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

}  // namespace seccompress
