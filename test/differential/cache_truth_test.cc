// SPDX-License-Identifier: Apache-2.0
// is_constant_allow against real reports of /proc/PID/seccomp_cache (corpus/cache-truth, its README has the format):
// every bit of every stack.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "program/program.h"
#include "support/file.h"
#include "support/paths.h"
#include "support/program_builder.h"

namespace seccompress::test {
namespace {

namespace fs = std::filesystem;

const fs::path kTruth = fs::path(kCorpus) / "cache-truth";

struct Report {
  std::string stack;                             // "bpf/ctf/name", "micro/a+b"
  std::map<std::string, std::uint32_t> numbers;  // by arch: how many
  std::map<std::string, std::set<std::uint32_t>> allowed;
};

std::set<std::uint32_t> parse_set(const std::string& text) {
  std::set<std::uint32_t> numbers;
  std::istringstream parts(text == "-" ? "" : text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dash = part.find('-');
    const auto first = static_cast<std::uint32_t>(std::stoul(part));
    const auto last = dash == std::string::npos ? first : static_cast<std::uint32_t>(std::stoul(part.substr(dash + 1)));
    for (std::uint32_t nr = first; nr <= last; ++nr) numbers.insert(nr);
  }
  return numbers;
}

Report parse_report(const fs::path& path) {
  Report report;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string first, second, third, fourth;
    words >> first >> second >> third >> fourth;
    if (first == "#" && second == "stack") report.stack = third;
    if (second == "NR") report.numbers[first] = static_cast<std::uint32_t>(std::stoul(third));
    if (second == "ALLOW") report.allowed[first] = parse_set(fourth);
  }
  return report;
}

Code load(const fs::path& path) {
  const auto bytes = read_file(path, 1U << 20);
  EXPECT_TRUE(bytes) << path;
  const auto code = program::from_bytes(bytes ? *bytes : "", path);
  EXPECT_TRUE(code) << path;
  return code ? *code : Code{};
}

std::vector<Code> load_folder(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".bpf") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<Code> stack;
  for (const fs::path& file : files) stack.push_back(load(file));
  return stack;
}

// "A+B": A first. A part is a folder of systemd-live or a file.
std::vector<Code> load_stack(const std::string& name) {
  if (name.starts_with("systemd-live/")) return load_folder(fs::path(kCorpus) / name);
  if (name.starts_with("bpf/")) return {load(fs::path(kCorpus) / (name + ".bpf"))};
  const fs::path folder = kTruth / "input" / fs::path(name).parent_path();
  std::vector<Code> stack;
  std::istringstream parts(fs::path(name).filename());
  for (std::string part; std::getline(parts, part, '+');) {
    if (fs::exists(fs::path(kCorpus) / "systemd-live" / part)) {
      for (Code& code : load_folder(fs::path(kCorpus) / "systemd-live" / part)) stack.push_back(std::move(code));
    } else {
      stack.push_back(load(folder / (part + ".bpf")));
    }
  }
  return stack;
}

// Numbers that the kernel never shows to seccomp: uretprobe on 6.12 (x86_64).
bool is_exempt(const std::string& kernel, const std::string& arch, std::uint32_t nr) {
  return kernel == "6.12" && arch == "x86_64" && nr == 335;
}

std::size_t compare(const Report& report, const std::string& kernel) {
  const std::vector<Code> stack = load_stack(report.stack);
  std::size_t bits = 0;
  for (const auto& numbers : report.numbers)
    for (std::uint32_t nr = 0; nr < numbers.second; ++nr, ++bits) {
      const std::string& arch = numbers.first;  // clang 14: no structured binding in a lambda
      const bool predicted =
          is_exempt(kernel, arch, nr) || std::all_of(stack.begin(), stack.end(), [&](const Code& code) {
            return program::is_constant_allow(code, arch == "x86_64" ? kX8664 : kI386, nr);
          });
      EXPECT_EQ(predicted, report.allowed.at(arch).contains(nr)) << report.stack << ' ' << arch << ' ' << nr;
    }
  return bits;
}

class CacheTruth : public ::testing::TestWithParam<const char*> {};

TEST_P(CacheTruth, IsPredictedBitForBit) {
  const std::string kernel = GetParam();
  if (!fs::exists(kTruth / kernel)) GTEST_SKIP() << "no corpus beside this checkout";
  std::size_t bits = 0, stacks = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kTruth / kernel)) {
    if (entry.path().extension() != ".cache") continue;
    bits += compare(parse_report(entry.path()), kernel);
    ++stacks;
  }
  std::printf("%s: %zu stacks, %zu bits\n", kernel.c_str(), stacks, bits);
  EXPECT_GT(stacks, 100U);
  EXPECT_GT(bits, 90'000U);
}

INSTANTIATE_TEST_SUITE_P(Kernels, CacheTruth, ::testing::Values("6.1", "6.12"));

TEST(CacheTruthCorpus, RefusedProgramsAreRefusedByCheck) {
  const fs::path micro = kTruth / "input" / "micro";
  if (!fs::exists(micro)) GTEST_SKIP() << "no corpus beside this checkout";
  std::size_t refused = 0, accepted = 0;
  for (const auto& entry : fs::directory_iterator(micro)) {
    const bool expected = !entry.path().filename().string().starts_with("refused-");
    EXPECT_EQ(program::check(load(entry.path())).has_value(), expected) << entry.path();
    ++(expected ? accepted : refused);
  }
  EXPECT_EQ(refused, 11U);
  EXPECT_GT(accepted, 40U);
}

}  // namespace
}  // namespace seccompress::test
