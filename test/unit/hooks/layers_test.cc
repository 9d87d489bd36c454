// SPDX-License-Identifier: Apache-2.0
// Units as host layers: their drop-ins count, and have to be as trusted as they are.
#include "layers.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/file.h"

namespace seccompress::hooks {
namespace {

namespace fs = std::filesystem;

class UnitLayer : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root's files are trusted";
    std::string name = "/var/lib/seccompress-layers-XXXXXX";  // every folder above has to be root's alone
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
    fs::create_directory(folder_ / "x.service.d");
    write("x.service", "[Service]\nSystemCallArchitectures=native\n");
    write("facts.json",
          R"({"arch": "x86_64", "kernel": "6.1", "caps": [], "weights": "measured",
              "systemd": {"version": 252, "from": "host", "groups_differ": []}})");
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomically(folder_ / name, text));
  }
  Result<read::Layer> read_layer(const std::string& text, HostFiles& files) const {
    Diagnostics diagnostics;
    bundle::Settings settings;
    settings.host_facts = folder_ / "facts.json";
    TRY_ASSIGN(LayerReader reader, LayerReader::make(settings));
    return reader.read(text, diagnostics, files);
  }
  std::optional<std::size_t> filters() const {
    HostFiles files;
    const auto layer = read_layer("systemd:" + (folder_ / "x.service").string(), files);
    if (!layer) return std::nullopt;
    return std::get<std::vector<read::NamedPolicy>>(layer->content).size();
  }

  fs::path folder_;
};

TEST_F(UnitLayer, ReadsItsDropIns) {
  EXPECT_EQ(filters(), 1U);
  write("x.service.d/1.conf", "[Service]\nLockPersonality=yes\n");
  write("x.service.d/2.txt", "[Service]\nSystemCallLog=uname\n");
  EXPECT_EQ(filters(), 2U);
  fs::remove_all(folder_ / "x.service.d");
  EXPECT_EQ(filters(), 1U);
}

TEST_F(UnitLayer, RefusesADropInThatOthersCanWrite) {
  write("x.service.d/1.conf", "[Service]\nLockPersonality=yes\n");
  ASSERT_EQ(::chmod((folder_ / "x.service.d/1.conf").c_str(), 0666), 0);
  EXPECT_EQ(filters(), std::nullopt);
}

// A unit among the host's own, under a name that nothing else has.
class UnitByName : public UnitLayer {
 protected:
  void SetUp() override {
    UnitLayer::SetUp();
    if (IsSkipped()) return;
    if (!fs::is_directory("/etc/systemd/system")) GTEST_SKIP() << "this host has no folder for units";
    name_ = "seccompress-test-" + std::to_string(::getpid()) + ".service";
    ASSERT_TRUE(write_file_atomically(path(""), "[Service]\nSystemCallArchitectures=native\n"));
  }
  void TearDown() override {
    if (!name_.empty()) fs::remove(path(""));
    if (!name_.empty()) fs::remove_all(path(".d"));
    UnitLayer::TearDown();
  }
  std::string path(const std::string& suffix) const { return "/etc/systemd/system/" + name_ + suffix; }

  std::string name_;
};

TEST_F(UnitByName, ADropInThatComesIsAChange) {
  HostFiles files;
  const auto layer = read_layer("unit:" + name_, files);
  ASSERT_TRUE(layer) << to_string(layer.error());
  EXPECT_EQ(read::to_string(layer->spec), "unit:" + name_);
  EXPECT_EQ(std::get<std::vector<read::NamedPolicy>>(layer->content).size(), 1U);
  EXPECT_EQ(files.inputs().front().path, "unit:" + name_);
  EXPECT_EQ(changed_since(files.inputs()), "");

  fs::create_directory(path(".d"));
  EXPECT_EQ(changed_since(files.inputs()), "");
  ASSERT_TRUE(write_file_atomically(path(".d/1.conf"), "[Service]\nLockPersonality=yes\n"));
  EXPECT_EQ(changed_since(files.inputs()), "unit:" + name_ + " changed");
  HostFiles again;
  EXPECT_EQ(std::get<std::vector<read::NamedPolicy>>(read_layer("unit:" + name_, again)->content).size(), 2U);
  fs::remove(path(""));
  EXPECT_NE(changed_since(files.inputs()).find("cannot be read as it was"), std::string::npos);
}

}  // namespace
}  // namespace seccompress::hooks
