// SPDX-License-Identifier: Apache-2.0
#include "bundle/settings.h"

#include <gtest/gtest.h>

namespace seccompress::bundle {
namespace {

using std::chrono::milliseconds;

std::string errors(const std::string& text) {
  Diagnostics diagnostics;
  const auto settings = parse_settings(text, "c", diagnostics);
  EXPECT_EQ(settings.has_value(), !diagnostics.has_errors());
  std::string all;
  for (const Diagnostic& diagnostic : diagnostics.all()) all += to_string(diagnostic) + "\n";
  return all;
}

TEST(Settings, OfTheDesignAreRead) {
  Diagnostics diagnostics;
  const auto settings = parse_settings(R"(# comment
version: 1
host_layers: [bpf:/a, "dir:/b"]
apply: {unconfined: skip, select: [{annotation: a.b/c=d=e, layers: [oci:/c]}]}
mode: observe
on_mismatch: refuse
on_failure: runtime-profile
log: /var/log/x.log
host_facts: /etc/seccompress/host-facts.json
exec: accept
install_timeout: 1500ms
runtimes: {default: runc, allowed: [/usr/sbin/runc, /usr/bin/crun]}
)",
                                       "c", diagnostics);
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->host_layers, (std::vector<std::string>{"bpf:/a", "dir:/b"}));
  EXPECT_EQ(settings->unconfined, Unconfined::skip);
  ASSERT_EQ(settings->selections.size(), 1U);
  EXPECT_EQ(settings->selections[0].key, "a.b/c");
  EXPECT_EQ(settings->selections[0].value, "d=e");
  EXPECT_EQ(settings->mode, Mode::observe);
  EXPECT_EQ(settings->on_mismatch, OnMismatch::refuse);
  EXPECT_EQ(settings->on_failure, OnFailure::runtime_profile);
  EXPECT_EQ(settings->log, "/var/log/x.log");
  EXPECT_EQ(settings->host_facts, "/etc/seccompress/host-facts.json");
  EXPECT_EQ(settings->exec, ExecSessions::accept);
  EXPECT_EQ(settings->install_timeout, milliseconds(1500));
  EXPECT_EQ(settings->default_runtime, "runc");
  EXPECT_EQ(settings->allowed_runtimes.size(), 2U);
}

TEST(Settings, DefaultToTheStrictSide) {
  Diagnostics diagnostics;
  const auto settings = parse_settings("version: 1\n", "c", diagnostics);
  ASSERT_TRUE(settings.has_value());
  EXPECT_TRUE(settings->host_layers.empty());
  EXPECT_EQ(settings->host_facts, "");
  EXPECT_EQ(settings->unconfined, Unconfined::apply);
  EXPECT_EQ(settings->mode, Mode::enforce);
  EXPECT_EQ(settings->on_mismatch, OnMismatch::strictest);
  EXPECT_EQ(settings->on_failure, OnFailure::refuse);
  EXPECT_EQ(settings->exec, ExecSessions::cover);
  EXPECT_EQ(settings->install_timeout, milliseconds(10'000));
}

TEST(Settings, AreRefusedWithThePlace) {
  EXPECT_EQ(errors("version: 1\nmood: good\n").substr(0, 37), "c:2:1: error: unknown key 'mood' in t");
  EXPECT_EQ(errors("version: 1\nmode: on\n"), "c:2:7: error: mode is 'on'; it must be enforce or observe\n");
  EXPECT_EQ(errors("version: 1\nmode: observe\nmode: enforce\n"), "c:3:1: error: the key 'mode' is there twice\n");
}

struct Fault {
  const char* text;
  const char* message;
};
class FaultySettings : public testing::TestWithParam<Fault> {};

TEST_P(FaultySettings, AreNamed) {
  const std::string all = errors(GetParam().text);
  EXPECT_NE(all.find(GetParam().message), std::string::npos) << all;
}

INSTANTIATE_TEST_SUITE_P(
    All, FaultySettings,
    testing::Values(
        Fault{"", "not a mapping"}, Fault{"[]", "not a mapping"},
        Fault{"version: 1\n--- \nversion: 1\n", "second document"}, Fault{"version: 2", "this build knows version 1"},
        Fault{"mode: enforce", "version is missing"}, Fault{"version: &a 1\nlog: *a", "an anchor"},
        Fault{"version: 1\nlog: *a", "anchor is not defined"}, Fault{"version: !!int 1", "a tag"},
        Fault{"version: 1\nhost_layers: x", "host_layers is not a list"},
        Fault{"version: 1\nhost_layers: [[x]]", "an entry of host_layers is not a text"},
        Fault{"version: 1\nhost_layers: ['']", "an entry of host_layers is not a text"},
        Fault{"version: 1\nhost_layers: [bpf:/a,\n  'bpf:b']", "c:3:3: error: 'bpf:b': not an absolute path"},
        Fault{"version: 1\nhost_layers: [x.service]", "c:2:15: error: 'x.service': not an absolute path"},
        Fault{"version: 1\nhost_layers: ['dir:/a/../b']", "'dir:/a/../b': a path with a '.' or '..' in it"},
        Fault{"version: 1\nhost_layers: ['dir:/a/.']", "'dir:/a/.': a path with a '.' or '..' in it"},
        Fault{"version: 1\nhost_layers: ['bpf:']", "'bpf:': a layer needs a location"},
        Fault{"version: 1\nhost_layers: ['pid:1']", "'pid:1': a live process is no layer that lasts"},
        Fault{"version: 1\napply: {select: [{annotation: x=y, layers: [a]}]}",
              "c:2:45: error: 'a': not an absolute path"},
        Fault{"version: 1\nlog: relative", "not an absolute path"},
        Fault{"version: 1\nhost_facts: facts.json", "c:2:13: error: host_facts is 'facts.json': not an absolute path"},
        Fault{"version: 1\nhost_facts: /etc/../facts.json", "a path with a '.' or '..' in it"},
        Fault{"version: 1\nhost_facts: [/a]", "c:2:13: error: host_facts is not a text"},
        Fault{"version: 1\nhost_facts: /a\nhost_facts: /b", "the key 'host_facts' is there twice"},
        Fault{"version: 1\ninstall_timeout: 10", "not a duration"},
        Fault{"version: 1\ninstall_timeout: 1ms", "between"}, Fault{"version: 1\ninstall_timeout: 11m", "between"},
        Fault{"version: 1\napply: {select: [{annotation: x, layers: [bpf:/a]}]}", "KEY=VALUE"},
        Fault{"version: 1\napply: {select: [{annotation: x=y}]}", "needs an annotation and layers"},
        Fault{"version: 1\napply: {unconfined: maybe}", "apply.unconfined is 'maybe'"},
        Fault{"version: 1\nruntimes: {allowed: [runc]}", "not an absolute path"},
        Fault{"version: 1\n? [a]\n: b", "a key is not a plain word"}, Fault{"version: 1\n\tlog: x", "error"},
        Fault{"a: {b: {c: {d: {e: {f: {g: {h: {i: 1}}}}}}}}", "nesting deeper than 8"}));

TEST(Settings, AreBoundedBeforeTheyAreParsed) {
  EXPECT_NE(errors("version: 1\n" + std::string(kMaxSettingsBytes, '#')).find("larger than"), std::string::npos);
  EXPECT_NE(errors(std::string(60'000, '[')).find("error"), std::string::npos);
  std::string many = "version: 1\nhost_layers: [";
  for (int i = 0; i < 300; ++i) many += "bpf:/a,";
  EXPECT_NE(errors(many + "]\n").find("more than 256"), std::string::npos);
}

TEST(LayersFor, AddSelectionsBehindTheHostsAndNeverRemove) {
  Settings settings;
  settings.host_layers = {"bpf:/a"};
  settings.selections = {{.key = "tier", .value = "strict", .layers = {"bpf:/b"}},
                         {.key = "x", .value = "", .layers = {"bpf:/c"}}};
  EXPECT_EQ(settings.layers_for({}), (std::vector<std::string>{"bpf:/a"}));
  EXPECT_EQ(settings.layers_for({{"tier", "loose"}}), (std::vector<std::string>{"bpf:/a"}));
  EXPECT_EQ(settings.layers_for({{"tier", "strict"}, {"x", ""}}),
            (std::vector<std::string>{"bpf:/a", "bpf:/b", "bpf:/c"}));
}

TEST(Duration, HasANumberAndAUnit) {
  EXPECT_EQ(parse_duration("10s").value(), milliseconds(10'000));
  EXPECT_EQ(parse_duration("500ms").value(), milliseconds(500));
  EXPECT_EQ(parse_duration("2m").value(), milliseconds(120'000));
  for (const char* text : {"", "s", "10", "-1s", "10 s", "1h", "1.5s", "99999999999999999999s", "10s "})
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
}

}  // namespace
}  // namespace seccompress::bundle
