// SPDX-License-Identifier: Apache-2.0
#include "read/reader.h"

#include <gtest/gtest.h>

#include "support/program_builder.h"

namespace seccompress::read {
namespace {

std::string detected(std::string_view bytes) {
  Diagnostics diagnostics;
  const auto layer = read_bytes({"", "x"}, bytes, {}, diagnostics);
  return layer ? layer->spec.kind : "refused";
}

TEST(LayerSpec, AKnownPrefixIsTheKind) {
  EXPECT_EQ(parse_layer_spec("docker:a.json")->kind, "docker");
  EXPECT_EQ(parse_layer_spec("docker:a.json")->location, "a.json");
  EXPECT_EQ(parse_layer_spec("pid:1")->kind, "pid");
  EXPECT_EQ(parse_layer_spec("bpf:dir:x")->location, "dir:x");
}

TEST(LayerSpec, AnyOtherPrefixIsPartOfThePath) {
  EXPECT_EQ(parse_layer_spec("my:file.json")->kind, "");
  EXPECT_EQ(parse_layer_spec("my:file.json")->location, "my:file.json");
  EXPECT_EQ(parse_layer_spec("./docker:a")->location, "./docker:a");
  EXPECT_EQ(to_string(*parse_layer_spec("oci:x")), "oci:x");
  EXPECT_EQ(to_string(*parse_layer_spec("x")), "x");
}

TEST(LayerSpec, NeedsALocation) {
  EXPECT_FALSE(parse_layer_spec(""));
  EXPECT_FALSE(parse_layer_spec("oci:"));
  EXPECT_FALSE(parse_layer_spec(std::string_view("a\0b", 3)));
}

TEST(Detection, GoesByTheContent) {
  EXPECT_EQ(detected(R"({"defaultAction": "SCMP_ACT_ALLOW"})"), "oci");
  EXPECT_EQ(detected(R"({"ociVersion": "1", "linux": {"seccomp": {"defaultAction": "SCMP_ACT_ALLOW"}}})"), "oci");
  EXPECT_EQ(detected(R"({"defaultAction": "SCMP_ACT_ALLOW", "archMap": []})"), "docker");
  EXPECT_EQ(
      detected(R"({"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"name": "read", "action": "SCMP_ACT_LOG"}]})"),
      "docker");
  EXPECT_EQ(detected(program::to_bytes(program::Code{test::ld(abi::kNr), test::ret(abi::kAllow)})), "bpf");
  EXPECT_EQ(detected("hello"), "refused");
  EXPECT_EQ(detected(""), "refused");
}

TEST(Detection, AnUnknownKindNamesTheKnownOnes) {
  Diagnostics diagnostics;
  EXPECT_FALSE(read({"snap", "x"}, {}, diagnostics));
  ASSERT_EQ(diagnostics.all().size(), 1U);
  EXPECT_EQ(diagnostics.all()[0].code, "unknown-kind");
  EXPECT_EQ(diagnostics.all()[0].hint, "one of oci, docker, bpf, dir, systemd");
}

TEST(Detection, AMissingFileIsTheWorldsRefusal) {
  Diagnostics diagnostics;
  const auto layer = read({"oci", "/no/such/file"}, {}, diagnostics);
  ASSERT_FALSE(layer);
  EXPECT_EQ(layer.error().code, std::error_code(ENOENT, std::generic_category()));
}

TEST(Caps, AreReadInEverySpelling) {
  EXPECT_EQ(parse_caps("default")->size(), 14U);
  EXPECT_EQ(parse_caps("default:podman")->size(), 11U);
  EXPECT_EQ(parse_caps("default:crio")->size(), 9U);
  EXPECT_EQ(parse_caps("all")->size(), 41U);
  EXPECT_TRUE(parse_caps("none")->empty());
  EXPECT_EQ(*parse_caps("CAP_CHOWN,sys_admin"), (std::set<std::string>{"CAP_CHOWN", "CAP_SYS_ADMIN"}));
  EXPECT_EQ(*parse_caps("0x200001"), (std::set<std::string>{"CAP_CHOWN", "CAP_SYS_ADMIN"}));
  EXPECT_EQ(*parse_caps("0x00000000a80425fb"), docker_default_caps());  // CapBnd of a docker container
  EXPECT_FALSE(parse_caps("CAP_ROOT"));
  EXPECT_FALSE(parse_caps("0x1g"));
  EXPECT_FALSE(parse_caps("CAP_CHOWN,,CAP_KILL"));
}

TEST(Kernel, OnlyMajorAndMinorCount) {
  EXPECT_EQ(*parse_kernel("6.1"), (KernelVersion{6, 1}));
  EXPECT_EQ(*parse_kernel("6.1.0-18-amd64"), (KernelVersion{6, 1}));
  EXPECT_LT(*parse_kernel("4.8"), *parse_kernel("4.10"));
  for (const char* text : {"", "6", "6.", "six", "6.x", "-6.1", "6.1x", "99999999999.1"})
    EXPECT_FALSE(parse_kernel(text)) << text;
}

}  // namespace
}  // namespace seccompress::read
