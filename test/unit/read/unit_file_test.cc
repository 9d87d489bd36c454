// SPDX-License-Identifier: Apache-2.0
#include "read/unit_file.h"

#include <gtest/gtest.h>

#include <chrono>

#include "read/reader.h"
#include "read/unit_words.h"

namespace seccompress::read::unit {
namespace {

struct Parsed {
  std::vector<std::string> lines;  // "Section.Key=Value@line:column of the value"
  std::vector<std::string> diagnostics;
  bool loaded = false;
};

Parsed parsed(std::string_view text) {
  Parsed result;
  Diagnostics diagnostics;
  const auto done = parse(text, "u", diagnostics, [&](const Assignment& one) {
    const Location place = one.at(one.value.data());
    result.lines.push_back(std::string(one.section) + '.' + std::string(one.key) + '=' + std::string(one.value) + '@' +
                           std::to_string(place.line) + ':' + std::to_string(place.column));
  });
  result.loaded = done.has_value();
  for (const Diagnostic& one : diagnostics.all()) result.diagnostics.push_back(to_string(one));
  return result;
}

using Lines = std::vector<std::string>;

TEST(UnitFile, AnAssignmentHasItsSectionAndPlace) {
  EXPECT_EQ(parsed("[A]\nx=1\n\n  y = two words \n[B]\nz=\n").lines,
            (Lines{"A.x=1@2:3", "A.y=two words@4:7", "B.z=@6:3"}));
}

TEST(UnitFile, ContinuedLinesKeepThePlacesOfTheirParts) {
  Diagnostics diagnostics;
  Location third;
  const std::string_view text = "[A]\nx=one \\\n# skipped\n   two \\\n three";
  ASSERT_TRUE(parse(text, "u", diagnostics, [&](const Assignment& one) {
    EXPECT_EQ(one.value, "one     two   three");
    third = one.at(one.value.data() + one.value.find("three"));
  }));
  EXPECT_EQ(third.line, 5);
  EXPECT_EQ(third.column, 2);
}

TEST(UnitFile, OnlyAnUnescapedBackslashContinues) {
  EXPECT_EQ(parsed("[A]\nx=a\\\\\ny=b\\\\\\\nc").lines, (Lines{"A.x=a\\\\@2:3", "A.y=b\\\\ c@3:3"}));
}

TEST(UnitFile, ALineWithoutTextEndsAContinuation) {
  EXPECT_EQ(parsed("[A]\nx=a \\\n\ny=b").lines, (Lines{"A.x=a@2:3", "A.y=b@4:3"}));
}

TEST(UnitFile, LinesEndAtEveryKindOfEnd) {
  using namespace std::string_view_literals;
  EXPECT_EQ(parsed("[A]\r\nx=1\ry=2\n\rz=3\0w=4"sv).lines, (Lines{"A.x=1@2:3", "A.y=2@3:3", "A.z=3@4:3", "A.w=4@5:3"}));
}

TEST(UnitFile, AByteOrderMarkIsSkippedOnce) {
  EXPECT_EQ(parsed("\xef\xbb\xbf[A]\nx=1\n").lines, (Lines{"A.x=1@2:3"}));
  EXPECT_EQ(parsed("\xef\xbb\xbf[A]\n\xef\xbb\xbfx=1\n").lines, (Lines{"A.\xef\xbb\xbfx=1@2:6"}));
}

TEST(UnitFile, WhatSystemdSkipsIsAWarning) {
  const Parsed result = parsed("early=1\n[A]\nnonsense\n=x\n");
  EXPECT_TRUE(result.loaded);
  EXPECT_TRUE(result.lines.empty());
  EXPECT_EQ(result.diagnostics, (Lines{"u:1:1: warning: an assignment outside of any section is skipped",
                                       "u:3:1: warning: a line without '=' is skipped",
                                       "u:4:1: warning: a line without a name before '=' is skipped"}));
}

TEST(UnitFile, WhatKeepsAUnitFromLoadingIsAnError) {
  for (const std::string_view text : {"[A\nx=1", "[A]\nx=\xff", "[A]\nx=\xc0\x80", "[A]\nx=\xed\xa0\x80",
                                      "[A]\nx=\xef\xbf\xbf", "[A]\nx=\xf4\x90\x80\x80", "[A]\nx=\xe2\x82"})
    EXPECT_FALSE(parsed(text).loaded) << text;
  EXPECT_TRUE(parsed("[A]\n# \xff\nx=\xe2\x82\xac").loaded);
}

TEST(UnitFile, LinesAreBounded) {
  const std::string longest(kMaxLineBytes - 1, '#');
  EXPECT_TRUE(parsed("[A]\n" + longest).loaded);
  EXPECT_FALSE(parsed("[A]\n" + longest + '#').loaded);
  std::string continued = "[A]\nx=";
  for (int i = 0; i < 3; ++i) continued += std::string(kMaxLineBytes / 2, 'y') + "\\\n";
  EXPECT_FALSE(parsed(continued).loaded);
}

std::vector<std::string> split(std::string_view text, Words::Quotes quotes) {
  Words words(text, quotes);
  std::vector<std::string> all;
  for (;;) {
    const Words::Step step = words.next();
    if (step == Words::Step::broken) all.push_back("broken");
    if (step != Words::Step::word) return all;
    all.push_back(words.word());
  }
}

TEST(UnitWords, QuotesAndBackslashes) {
  EXPECT_EQ(split("a  \"b c\" 'd' e\\ f", Words::Quotes::removed), (Lines{"a", "b c", "d", "e f"}));
  EXPECT_EQ(split("a  \"b c\" 'd' e\\ f", Words::Quotes::kept), (Lines{"a", "\"b", "c\"", "'d'", "e f"}));
  EXPECT_EQ(split("a\"b c\"d \"\"", Words::Quotes::removed), (Lines{"ab cd", ""}));
  EXPECT_EQ(split("a \"b", Words::Quotes::removed), (Lines{"a", "broken"}));
  EXPECT_EQ(split("a b\\", Words::Quotes::kept), (Lines{"a", "broken"}));
  EXPECT_EQ(split(" \t ", Words::Quotes::kept), Lines{});
}

TEST(UnitWords, Truth) {
  for (const char* text : {"1", "yes", "Y", "TRUE", "t", "On"}) EXPECT_EQ(parse_boolean(text), true) << text;
  for (const char* text : {"0", "no", "N", "False", "F", "oFF"}) EXPECT_EQ(parse_boolean(text), false) << text;
  for (const char* text : {"", "2", "yes ", "maybe", "enabled"}) EXPECT_EQ(parse_boolean(text), std::nullopt) << text;
}

TEST(UnitWords, ErrorNumbers) {
  EXPECT_EQ(parse_errno("EPERM"), 1);
  EXPECT_EQ(parse_errno("EWOULDBLOCK"), 11);
  EXPECT_EQ(parse_errno("0x10"), 16);
  EXPECT_EQ(parse_errno("010"), 8);
  EXPECT_EQ(parse_errno("0b11"), 3);
  EXPECT_EQ(parse_errno("0o17"), 15);
  EXPECT_EQ(parse_errno(" +5"), 5);
  EXPECT_EQ(parse_errno("0"), 0);
  EXPECT_EQ(parse_errno("4095"), 4095);
  for (const char* text : {"", "4096", "-1", "5 ", "eperm", "0x", "99999999999999999999", "EPERM EACCES"})
    EXPECT_EQ(parse_errno(text), std::nullopt) << text;
}

}  // namespace
}  // namespace seccompress::read::unit
