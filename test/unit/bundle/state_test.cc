// SPDX-License-Identifier: Apache-2.0
#include "bundle/state.h"

#include <gtest/gtest.h>

#include "bundle/config.h"

namespace seccompress::bundle {
namespace {

TEST(State, OfRuncAndCrunIsRead) {
  Diagnostics diagnostics;
  const auto runc =
      parse_state(R"({"ociVersion":"1.0.2-dev","id":"x","status":"creating","pid":7281,"bundle":"/b"})", diagnostics);
  ASSERT_TRUE(runc.has_value());
  EXPECT_EQ(runc->pid, 7281);
  EXPECT_EQ(runc->id, "x");
  EXPECT_EQ(runc->bundle, "/b");
  const auto crun =
      parse_state(R"({"ociVersion":"1.0","id":"y","pid":7301,"root":"rootfs","bundle":"/b","status":"created",
                                    "annotations":{"a":"b"}})",
                  diagnostics);
  ASSERT_TRUE(crun.has_value());
  EXPECT_EQ(crun->annotations, (std::map<std::string, std::string>{{"a", "b"}}));
}

TEST(State, IsRefusedWhenItCannotBeActedOn) {
  for (const char* text :
       {"", "[]", "{}", R"({"pid":-7,"id":"x","bundle":"/b"})", R"({"pid":7.5,"id":"x","bundle":"/b"})",
        R"({"pid":4294967303,"id":"x","bundle":"/b"})", R"({"pid":"7","id":"x","bundle":"/b"})",
        R"({"pid":7,"pid":8,"id":"x","bundle":"/b"})", R"({"pid":7,"id":"x","bundle":"b"})",
        R"({"pid":7,"id":"x","bundle":"/b\u0000c"})", R"({"pid":7,"bundle":"/b"})",
        R"({"pid":7,"Pid":8,"id":"x","bundle":"/b"})", R"({"pid":7,"id":"x","bundle":"/b","BUNDLE":"/c"})",
        R"({"pid":7,"id":"x","bundle":"/b","Annotations":{}})",
        R"({"pid":7,"id":"x","bundle":"/b","annotations":{"a":1}})", R"({"pid":7,"id":"x","bundle":"/b"} x)"}) {
    Diagnostics diagnostics;
    EXPECT_FALSE(parse_state(text, diagnostics).has_value()) << text;
    EXPECT_TRUE(diagnostics.has_errors()) << text;
  }
}

TEST(State, OfAStageInsideTheContainerIsToldByItsPid) {
  Diagnostics diagnostics;
  EXPECT_TRUE(parse_state(R"({"pid":0,"id":"x","bundle":"/b"})", diagnostics)->inside());
  EXPECT_TRUE(parse_state(R"({"pid":1,"id":"x","bundle":"/b"})", diagnostics)->inside());
  EXPECT_FALSE(parse_state(R"({"pid":2,"id":"x","bundle":"/b"})", diagnostics)->inside());
}

TEST(State, IsBounded) {
  Diagnostics diagnostics;
  EXPECT_FALSE(parse_state(std::string(kMaxStateBytes + 1, ' '), diagnostics).has_value());
}

Result<Config> config(const std::string& text) {
  Diagnostics diagnostics;
  return parse_config(text, "config.json", diagnostics);
}

TEST(BundleConfig, ListsTheHooksOfAStage) {
  const auto hooks = config(R"({"hooks":{"createContainer":[{"path":"/h","args":["h","--config","/c"]},{"path":"/i"}],
                              "prestart":[{"path":"/j"}],"createRuntime":null}})")
                         ->hooks;
  ASSERT_EQ(hooks.size(), 3U);
  EXPECT_EQ(hooks[0].stage, "prestart");
  EXPECT_EQ(hooks[1].stage, "createContainer");
  EXPECT_EQ(hooks[1].path, "/h");
  EXPECT_EQ(hooks[1].args, (std::vector<std::string>{"h", "--config", "/c"}));
  EXPECT_EQ(hooks[2].path, "/i");
  EXPECT_TRUE(config(R"({"hooks":null})")->hooks.empty());
  for (const char* text :
       {R"({"hooks":[]})", R"({"hooks":{"createContainer":{}}})", R"({"hooks":{"createContainer":[{"path":1}]}})",
        R"({"hooks":{"createContainer":[{}]}})", R"({"hooks":{"createContainer":[{"path":"/h","args":[1]}]}})"})
    EXPECT_FALSE(config(text).has_value()) << text;
}

TEST(BundleConfig, SaysWhetherThereIsAFilter) {
  EXPECT_TRUE(config(R"({"linux":{"seccomp":{"defaultAction":"SCMP_ACT_ALLOW"}}})")->has_seccomp);
  for (const char* text :
       {"{}", R"({"linux":{}})", R"({"linux":null})", R"({"linux":{"seccomp":null}})", R"({"linux":{"seccomp":{}}})",
        R"({"linux":{"seccomp":{"defaultAction":"","syscalls":[]}}})"})
    EXPECT_FALSE(config(text)->has_seccomp) << text;
}

TEST(BundleConfig, SaysNoNewPrivilegesListenerAndAnnotations) {
  const auto found = config(R"({"process":{"noNewPrivileges":true},"annotations":{"a":"b"},
                                "linux":{"seccomp":{"defaultAction":"SCMP_ACT_ALLOW","listenerPath":"/s"}}})");
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->no_new_privs);
  EXPECT_EQ(found->listener_path, "/s");
  EXPECT_EQ(found->annotations.at("a"), "b");
  EXPECT_FALSE(config(R"({"process":{}})")->no_new_privs);
}

TEST(BundleConfig, RefusesKeysThatRuntimesReadDifferently) {
  for (const char* text :
       {R"({"LINUX":{}})", R"({"linux":{},"Linux":null})", R"({"linux":{"Seccomp":null}})", R"({"Process":{}})",
        R"({"ANNOTATIONS":{}})", R"({"hookS":{}})", R"({"process":{"nonewprivileges":false}})",
        "{\"proce\\u017f\\u017f\":{}}", R"({"linux":{},"linux":{}})"})
    EXPECT_FALSE(config(text).has_value()) << text;
}

TEST(BundleConfig, RefusesWrongTypes) {
  for (const char* text :
       {"[]", R"({"linux":[]})", R"({"linux":{"seccomp":"x"}})", R"({"process":{"noNewPrivileges":"yes"}})",
        R"({"annotations":["a"]})", R"({"annotations":{"a":null}})"})
    EXPECT_FALSE(config(text).has_value()) << text;
}

}  // namespace
}  // namespace seccompress::bundle
