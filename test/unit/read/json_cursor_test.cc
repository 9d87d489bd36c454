// SPDX-License-Identifier: Apache-2.0
#include "read/json_cursor.h"

#include <gtest/gtest.h>

#include <string>

#include "read/reader.h"

namespace seccompress::read::json {
namespace {

struct Place {
  int line, column;
  std::string pointer;
  bool operator==(const Place&) const = default;
};
std::ostream& operator<<(std::ostream& out, const Place& place) {
  return out << place.line << ':' << place.column << " at '" << place.pointer << '\'';
}
Place place_of(const Location& where) { return {where.line, where.column, where.pointer}; }

Document parsed(std::string_view text) {
  Diagnostics diagnostics;
  auto document = parse(text, "in.json", diagnostics);
  EXPECT_TRUE(document) << (diagnostics.all().empty() ? "" : to_string(diagnostics.all()[0]));
  return document ? std::move(*document) : Document();
}

// The one diagnostic of a text that is refused.
Diagnostic refusal(std::string_view text) {
  Diagnostics diagnostics;
  const auto document = parse(text, "in.json", diagnostics);
  EXPECT_FALSE(document);
  EXPECT_EQ(diagnostics.all().size(), 1U);
  return diagnostics.all().empty() ? Diagnostic{} : diagnostics.all()[0];
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

TEST(JsonCursor, KnowsThePlaceOfEveryKindOfValue) {
  const Document document =
      parsed("{\n  \"a\": [10, -2,\"x\\\"y\", true],\n\t\"b/c~\" : { \"d\" : 18446744073709551615}\n}");
  const Value& a = *document.root().find("a");
  EXPECT_EQ(place_of(document.locate(document.root())), (Place{1, 1, ""}));
  EXPECT_EQ(place_of(document.locate(document.root().members[0])), (Place{2, 3, "/a"}));
  EXPECT_EQ(place_of(document.locate(a)), (Place{2, 8, "/a"}));
  EXPECT_EQ(place_of(document.locate(a.elements[0])), (Place{2, 9, "/a/0"}));
  EXPECT_EQ(place_of(document.locate(a.elements[1])), (Place{2, 13, "/a/1"}));
  EXPECT_EQ(place_of(document.locate(a.elements[2])), (Place{2, 16, "/a/2"}));
  EXPECT_EQ(place_of(document.locate(a.elements[3])), (Place{2, 24, "/a/3"}));
  const Value& d = *document.root().members[1].value.find("d");
  EXPECT_EQ(place_of(document.locate(d)), (Place{3, 19, "/b~1c~0/d"}));
  EXPECT_EQ(d.integer, UINT64_MAX);
  EXPECT_EQ(a.elements[2].text, "x\"y");
}

TEST(JsonCursor, ANumberBeforeABracketDoesNotShiftWhatFollows) {
  const Document document = parsed("[[1],[2],{\"k\":3},4]");
  EXPECT_EQ(document.root().elements[1].offset, 5U);
  EXPECT_EQ(document.root().elements[1].elements[0].offset, 6U);
  EXPECT_EQ(document.root().elements[2].members[0].value.offset, 14U);
  EXPECT_EQ(document.root().elements[3].offset, 17U);
}

TEST(JsonCursor, RefusesDuplicateKeysAtTheSecond) {
  const Diagnostic fault = refusal("{\"a\": 1,\n \"b\": {\"x\": 1, \"y\": 2, \"x\": 3}}");
  EXPECT_EQ(fault.code, "json-duplicate-key");
  EXPECT_EQ(place_of(fault.where), (Place{2, 24, "/b/x"}));
}

TEST(JsonCursor, AnEscapedKeyIsTheSameKey) {
  EXPECT_EQ(refusal("{\"a\": 1, \"\\u0061\": 2}").code, "json-duplicate-key");
}

TEST(JsonCursor, RefusesWhatIsNoUtf8Text) {
  EXPECT_EQ(refusal("\xef\xbb\xbf{}").code, "json-encoding");
  EXPECT_EQ(refusal(std::string_view("\xff\xfe{\0}\0", 6)).code, "json-encoding");
  EXPECT_EQ(refusal(std::string_view("{\0}\0", 4)).code, "json-encoding");
  EXPECT_EQ(refusal("{\"a\xc3(\": 1}").code, "json-encoding");
  EXPECT_EQ(refusal("").code, "json-empty");
  EXPECT_EQ(refusal(" \n").code, "json-empty");
}

TEST(JsonCursor, RefusesCommentsTrailersAndBrokenText) {
  EXPECT_EQ(refusal("{/* no */}").code, "json-syntax");
  EXPECT_EQ(refusal("{} {}").code, "json-syntax");
  EXPECT_EQ(refusal("{\"a\": 1,}").code, "json-syntax");
  EXPECT_EQ(refusal("{\"a\": 01}").code, "json-syntax");
  const Diagnostic fault = refusal("{\n  \"a\": tru\n}");
  EXPECT_EQ(fault.where.line, 2);
  const Diagnostic overflow = refusal("[1" + std::string(400, '0') + "]");
  EXPECT_EQ(overflow.what.substr(0, 25), "number overflow parsing '");
}

// nlohmann's lexer takes it for the end: what follows would be there for other readers only.
TEST(JsonCursor, RefusesAZeroByteAnywhere) {
  using namespace std::string_literals;
  for (const std::string& text : {"{    }\0"s, "{\"a\": 1}\n\0{\"a\": 2}"s, "{\"a\": 1\0}"s}) {
    const Diagnostic fault = refusal(text);
    EXPECT_EQ(fault.code, "json-encoding");
    EXPECT_EQ(fault.what, "has a zero byte");
  }
  EXPECT_EQ(place_of(refusal("{\"a\": 1}\n \0{}"s).where), (Place{2, 2, ""}));
}

TEST(JsonCursor, BoundsDepthCountAndSize) {
  parsed(nested(kMaxDepth));
  EXPECT_EQ(refusal(nested(kMaxDepth + 1)).code, "json-depth");
  std::string many = "[0";
  for (std::size_t i = 0; i < kMaxValues; ++i) many += ",0";
  EXPECT_EQ(refusal(many + "]").code, "json-size");
  EXPECT_EQ(refusal(std::string(kMaxInputBytes + 1, ' ')).code, "json-size");
}

TEST(JsonCursor, IntegersNeverPassThroughADouble) {
  const Document document = parsed("[9007199254740993, 18446744073709551616, 1.0, -1, \"7\", 1e3]");
  Diagnostics diagnostics;
  Cursor cursor(document, diagnostics);
  EXPECT_EQ(cursor.integer(document.root().elements[0]), 9007199254740993U);
  for (std::size_t i = 1; i < 6; ++i) {
    EXPECT_EQ(cursor.integer(document.root().elements[i]), std::nullopt);
    ASSERT_EQ(diagnostics.all().size(), i);
    EXPECT_EQ(diagnostics.all().back().code, "json-type");
    EXPECT_EQ(diagnostics.all().back().where.pointer, "/" + std::to_string(i));
  }
  EXPECT_EQ(cursor.integer(document.root().elements[0], 5), std::nullopt);
  EXPECT_EQ(diagnostics.all().back().code, "json-range");
}

TEST(JsonCursor, FindsCaseVariantsAsGoFoldsThem) {
  const Document document = parsed("{\"linux\": 1, \"LINUX\": 2, \"proce\xc5\xbfs\": 3, \"hoo\xe2\x84\xaas\": 4}");
  ASSERT_NE(document.root().case_variant_of("linux"), nullptr);
  EXPECT_EQ(document.root().case_variant_of("linux")->key, "LINUX");
  EXPECT_NE(document.root().case_variant_of("process"), nullptr);
  EXPECT_NE(document.root().case_variant_of("hooks"), nullptr);
  EXPECT_EQ(document.root().case_variant_of("annotations"), nullptr);
}

TEST(JsonCursor, NullIsAnEmptyList) {
  const Document document = parsed("[null, [\"a\", \"b\"], [1], {}]");
  Diagnostics diagnostics;
  Cursor cursor(document, diagnostics);
  EXPECT_EQ(cursor.strings(document.root().elements[0]), std::vector<std::string>{});
  EXPECT_EQ(cursor.strings(document.root().elements[1]), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(cursor.strings(document.root().elements[2]), std::nullopt);
  EXPECT_EQ(cursor.strings(document.root().elements[3]), std::nullopt);
  EXPECT_EQ(diagnostics.all().size(), 2U);
}

TEST(JsonCursor, WarnsAboutUnknownKeysAndRefusesCaseVariants) {
  const Document document = parsed("{\"known\": 1, \"Known\": 2, \"other\": 3}");
  Diagnostics diagnostics;
  Cursor(document, diagnostics).check_keys(document.root(), {"known"});
  ASSERT_EQ(diagnostics.all().size(), 2U);
  EXPECT_EQ(diagnostics.all()[0].code, "key-case");
  EXPECT_EQ(diagnostics.all()[1].code, "unknown-key");
  EXPECT_EQ(diagnostics.all()[0].severity, Severity::error);
  EXPECT_EQ(diagnostics.all()[1].severity, Severity::warning);
}

}  // namespace
}  // namespace seccompress::read::json
