// SPDX-License-Identifier: Apache-2.0
#include "write/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <variant>

#include "verify/verify.h"

namespace seccompress::write {
namespace {

using ::testing::HasSubstr;

// ld [arch]; ret ALLOW: the smallest program with a load.
program::VerifiedProgram small_program() {
  const program::Code code = {{0x20, 0, 0, 4}, {0x06, 0, 0, 0x7fff0000}};
  verify::Outcome outcome = verify::prove(code, {});
  return std::get<program::VerifiedProgram>(outcome);
}

TEST(Base64, GivesTheVectorsOfRfc4648) {
  EXPECT_EQ(to_base64(""), "");
  EXPECT_EQ(to_base64("f"), "Zg==");
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  EXPECT_EQ(to_base64("foo"), "Zm9v");
  EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
  EXPECT_EQ(to_base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, TakesBytesWithTheHighBit) { EXPECT_EQ(to_base64("\xff\xfe\xfd"), "//79"); }

TEST(Formats, EachIsFoundByItsName) {
  for (const FormatFacts& facts : formats()) EXPECT_EQ(format_from_name(facts.name), facts.format) << facts.name;
  EXPECT_FALSE(format_from_name("elf"));
}

TEST(Formats, BpfIsTheKernelsOwnLayout) {
  const std::string expected("\x20\0\0\0\x04\0\0\0\x06\0\0\0\0\0\xff\x7f", 16);
  EXPECT_EQ(write(small_program(), Format::bpf), expected);
}

TEST(Formats, Base64IsOneLineOfTheSameBytes) {
  EXPECT_EQ(write(small_program(), Format::base64), "IAAAAAQAAAAGAAAAAAD/fw==\n");
}

TEST(Formats, AssemblyIsTheDisassembly) {
  EXPECT_EQ(write(small_program(), Format::assembly), program::disassemble(small_program().view()));
}

TEST(Formats, CIsAnArrayWithOneRowPerInstruction) {
  const std::string text = write(small_program(), Format::c);
  EXPECT_THAT(text, HasSubstr("static const struct sock_filter seccompress_program[2] = {\n"));
  EXPECT_THAT(text, HasSubstr("  {0x20,   0,   0, 0x00000004},  /* "));
  EXPECT_THAT(text, HasSubstr("  {0x06,   0,   0, 0x7fff0000},  /* "));
}

}  // namespace
}  // namespace seccompress::write
