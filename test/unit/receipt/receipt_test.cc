// SPDX-License-Identifier: Apache-2.0
// What a receipt's bytes may be: exactly those that were written.
#include "receipt/receipt.h"

#include <gtest/gtest.h>

#include "support/sha256.h"

namespace seccompress::receipt {
namespace {

const program::Code kAllow = {BPF_STMT(BPF_RET | BPF_K, abi::kAllow)};
constexpr std::size_t kTail = 65;  // checksum and line end

std::string with_checksum(std::string body) { return body + sha256(body) + "\n"; }

TEST(Receipt, GivesBackWhatWasWritten) {
  const auto receipt = from_bytes(to_bytes("in\nputs", "", kAllow));
  ASSERT_TRUE(receipt) << to_string(receipt.error());
  EXPECT_EQ(receipt->inputs, "in\nputs");
  EXPECT_EQ(receipt->about, "");
  EXPECT_TRUE(program::same_code(receipt->program.view(), kAllow));
}

TEST(Receipt, IsRefusedWhenAnyBitDiffers) {
  const std::string good = to_bytes("inputs", "about", kAllow);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    std::string bad = good;
    bad[bit / 8] = static_cast<char>(bad[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(from_bytes(bad)) << "bit " << bit;
  }
}

TEST(Receipt, IsRefusedWhenCutOffOrContinued) {
  const std::string good = to_bytes("inputs", "about", kAllow);
  for (std::size_t size = 0; size < good.size(); ++size) EXPECT_FALSE(from_bytes(good.substr(0, size))) << size;
  EXPECT_FALSE(from_bytes(good + "\n"));
}

TEST(Receipt, IsRefusedWithARightChecksumOverWrongWords) {
  const std::string good = to_bytes("inputs", "about", kAllow);
  const std::string body = good.substr(0, good.size() - kTail);
  ASSERT_TRUE(from_bytes(with_checksum(body)));
  EXPECT_FALSE(from_bytes(with_checksum(body + "x")));
  for (const char* size :
       {"inputs 5", "inputs 7", "inputs 99999999999999999999", "inputs -1", "inputs 6x", "inputs", "input 6"}) {
    std::string bad = body;
    bad.replace(bad.find("inputs 6"), 8, size);
    EXPECT_FALSE(from_bytes(with_checksum(bad))) << size;
  }
}

TEST(Receipt, IsRefusedWithAProgramThatNoKernelTakes) {
  EXPECT_FALSE(from_bytes(to_bytes("inputs", "about", program::Code{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)})));
  EXPECT_FALSE(from_bytes(to_bytes("inputs", "about", {})));
}

}  // namespace
}  // namespace seccompress::receipt
