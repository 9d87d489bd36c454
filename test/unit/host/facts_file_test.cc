// SPDX-License-Identifier: Apache-2.0
#include "host/facts_file.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace seccompress::host {
namespace {

using Json = nlohmann::ordered_json;

Json facts_json() {
  return {{"arch", "x86_64"},
          {"kernel", "6.1"},
          {"caps", {"CAP_CHOWN"}},
          {"systemd", {{"version", 254}, {"from", "host"}, {"groups_differ", {"+@clock uname", "-@clock adjtimex"}}}},
          {"weights", "measured"},
          {"libseccomp", "2.5.4"}};
}

std::string error_of(const std::string& text) {
  Diagnostics diagnostics;
  if (parse_facts(text, "f", diagnostics)) return "accepted";
  EXPECT_TRUE(diagnostics.has_errors());
  return diagnostics.all().empty() ? "" : to_string(diagnostics.all().front());
}

TEST(FactsFile, IsReadAsAReportTellsIt) {
  for (const Json& json : {facts_json(), Json{{"host", facts_json()}, {"layers", 1}}}) {
    Diagnostics diagnostics;
    const auto facts = parse_facts(json.dump(), "f", diagnostics);
    ASSERT_TRUE(facts && facts->systemd);
    EXPECT_EQ(facts->arch, "x86_64");
    EXPECT_EQ(facts->kernel, "6.1");
    EXPECT_EQ(facts->weights, "measured");
    EXPECT_EQ(facts->caps, (std::set<std::string>{"CAP_CHOWN"}));
    EXPECT_EQ(facts->systemd->facts.version, 254U);
    EXPECT_EQ(to_json(facts->systemd), facts_json()["systemd"]);
  }
}

TEST(FactsFile, MayKnowNoSystemd) {
  Json json = facts_json();
  json["systemd"] = nullptr;
  Diagnostics diagnostics;
  const auto facts = parse_facts(json.dump(), "f", diagnostics);
  ASSERT_TRUE(facts);
  EXPECT_FALSE(facts->systemd);
}

TEST(FactsFile, IsRefusedWithThePlace) {
  EXPECT_EQ(error_of(""), "f:1:1: error: the input is empty");
  EXPECT_EQ(error_of("[]"), "f:1:1: error: expected an object, found an array");
  EXPECT_EQ(error_of("{\"host\": 1}"), "f:1:10: error: expected an object, found an integer (at /host)");
  for (const char* const key : {"arch", "kernel", "caps", "systemd", "weights"}) {
    Json json = facts_json();
    json.erase(key);
    EXPECT_EQ(error_of(json.dump()), "f:1:1: error: \"" + std::string(key) + "\" is missing");
  }
  for (const char* const key : {"version", "from", "groups_differ"}) {
    Json json = facts_json();
    json["systemd"].erase(key);
    EXPECT_NE(error_of(json.dump()).find("\"" + std::string(key) + "\" is missing"), std::string::npos);
  }
}

TEST(FactsFile, HasNothingElseInIt) {
  Json json = facts_json();
  json["sytemd"] = json["systemd"];
  EXPECT_NE(error_of(json.dump()).find("unknown key \"sytemd\""), std::string::npos);
  json = facts_json();
  json["systemd"]["groups"] = Json::array();
  EXPECT_NE(error_of(json.dump()).find("unknown key \"groups\""), std::string::npos);
  const std::string text = facts_json().dump();
  EXPECT_NE(error_of(text.substr(0, text.size() - 1) + ", \"systemd\": null}").find("twice"), std::string::npos);
}

TEST(FactsFile, HasGroupsThatASystemdCanHave) {
  const auto with = [](const Json& version, const Json& lines) {
    Json json = facts_json();
    json["systemd"]["version"] = version;
    json["systemd"]["groups_differ"] = lines;
    return error_of(json.dump());
  };
  EXPECT_EQ(with(252, Json::array()), "accepted");
  EXPECT_NE(with(252, {"+@clock"}).find("'+@clock' is no difference such as"), std::string::npos);
  EXPECT_NE(with(252, {"-@clock nosuch"}).find("changes nothing in this build's table"), std::string::npos);
  EXPECT_NE(with(252, {1}).find("expected a string"), std::string::npos);
  EXPECT_NE(with(252, nullptr).find("expected an array"), std::string::npos);
  EXPECT_NE(with("252", Json::array()).find("found a string"), std::string::npos);
  EXPECT_NE(with(-252, Json::array()).find("negative"), std::string::npos);
  EXPECT_NE(with(10'000, Json::array()).find("is too large"), std::string::npos);
}

}  // namespace
}  // namespace seccompress::host
