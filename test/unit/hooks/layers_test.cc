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
  }
  void TearDown() override {
    if (!folder_.empty()) fs::remove_all(folder_);
  }
  void write(const std::string& name, const std::string& text) const {
    ASSERT_TRUE(write_file_atomically(folder_ / name, text));
  }
  std::optional<std::size_t> filters() const {
    Diagnostics diagnostics;
    HostFiles files;
    const auto layer = read_host_layer("systemd:" + (folder_ / "x.service").string(), {}, diagnostics, files);
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

}  // namespace
}  // namespace seccompress::hooks
