// SPDX-License-Identifier: Apache-2.0
// What programs cost, held to what they cost before. costs.tsv has a line for each case: the weighted mean of executed
// converted instructions over profiles/weights/calls.tsv, and the program's instructions. Either more than 1 % worse
// fails. ACCEPT=1 rewrites the file and reports the test as skipped.
// And, where the corpus is, what docker's default profile and a real service's stack may cost at most, whatever they
// cost before.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "abi/syscalls.h"
#include "pipeline.h"
#include "support/golden.h"
#include "support/paths.h"
#include "support/program_builder.h"

namespace seccompress::test {
namespace {

const std::string kFolder = std::string(kTestData) + "/regression/";
const std::string kDefault = std::string("docker:") + kProfiles + "/container-default.json";
const std::string kSnap = "docker:" + kFolder + "snap-template.json";
const std::string kUnit = "systemd:" + kFolder + "hardened.service";

struct Case {
  std::string name;
  std::vector<std::string> layers;
};
const Case kCases[] = {{"container-default", {kDefault}},
                       {"hardened", {kUnit}},
                       {"hardened+container-default", {kUnit, kDefault}},
                       {"snap-template", {kSnap}},
                       {"hardened+snap-template", {kUnit, kSnap}}};

struct Figures {
  double cost = 0;
  std::size_t instructions = 0;
};
using Table = std::map<std::string, Figures>;

struct WeighedCall {
  abi::SeccompData data;
  double weight;
};

// Lines NAME, arguments, WEIGHT, with tabs between them.
std::vector<WeighedCall> calls() {
  std::vector<WeighedCall> found;
  std::ifstream in(std::string(kProfiles) + "/weights/calls.tsv");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string name, arguments, weight;
    std::getline(fields, name, '\t');
    std::getline(fields, arguments, '\t');
    std::getline(fields, weight);
    WeighedCall one{call(kX8664, abi::syscall_number(abi::Arch::x86_64, name).value()), std::stod(weight)};
    std::istringstream words(arguments);
    std::string word;
    for (auto& argument : one.data.args)
      if (words >> word) argument = std::stoull(word, nullptr, 0);
    found.push_back(one);
  }
  return found;
}

program::Code flat(const std::vector<std::string>& layers, const emit::Options& emit) {
  PipelineOptions options;
  options.read.caps = read::docker_default_caps();
  options.read.kernel = {6, 1};
  options.emit = emit;
  Diagnostics diagnostics;
  Stack stack = make_stack(options);
  for (const std::string& layer : layers) {
    const auto added = add_layer(stack, read::parse_layer_spec(layer).value(), options, diagnostics);
    EXPECT_TRUE(added) << layer << ": " << (added ? "" : added.error().what);
    if (!added) return {};
  }
  const auto program = flatten(stack, options);
  EXPECT_TRUE(program);
  return program ? program->program.code() : program::Code{};
}

Figures figures(const program::Code& code, const std::vector<WeighedCall>& weighed) {
  double sum = 0, weight = 0;
  for (const WeighedCall& one : weighed) {
    sum += one.weight * program::run(code, one.data).executed_converted;
    weight += one.weight;
  }
  return {sum / weight, code.size()};
}

Table measured() {
  Table table;
  for (const Case& one : kCases)
    for (const bool cache_model : {true, false}) {
      emit::Options options;
      options.cache_model = cache_model;
      table[one.name + (cache_model ? "" : " --no-cache-model")] = figures(flat(one.layers, options), calls());
    }
  return table;
}

std::string text_of(const Table& table) {
  std::string text = "# SPDX-License-Identifier: Apache-2.0\n# LAYERS\tCOST\tINSTRUCTIONS: see costs_test.cc\n";
  for (const auto& [name, row] : table) text += fmt::format("{}\t{:.3f}\t{}\n", name, row.cost, row.instructions);
  return text;
}

Table stored() {
  Table table;
  std::ifstream in(kFolder + "costs.tsv");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string name;
    std::getline(fields, name, '\t');
    fields >> table[name].cost >> table[name].instructions;
  }
  return table;
}

TEST(Costs, AreNotMoreThanOnePercentWorseThanBefore) {
  const Table now = measured(), before = stored();
  if (accepting()) {
    std::ofstream(kFolder + "costs.tsv") << text_of(now);
    GTEST_SKIP() << "costs.tsv rewritten";
  }
  ASSERT_EQ(before.size(), now.size()) << "ACCEPT=1 rewrites costs.tsv\n" << text_of(now);
  for (const auto& [name, row] : now) {
    ASSERT_TRUE(before.contains(name)) << name;
    EXPECT_LE(row.cost, before.at(name).cost * 1.01) << name;
    EXPECT_LE(static_cast<double>(row.instructions), static_cast<double>(before.at(name).instructions) * 1.01) << name;
  }
}

// What the project set out to reach, over calls and weights that come with the corpus: lines NAME, NR, four arguments,
// WEIGHT where the kernel's cache answers what is always allowed, WEIGHT where it does not.
std::vector<WeighedCall> corpus_calls(bool cache_model) {
  std::vector<WeighedCall> found;
  std::ifstream in(std::string(kCorpus) + "/../calls.tsv");
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line.starts_with('#')) continue;
    std::istringstream fields(line);
    std::string name, word;
    double cached = 0, all = 0;
    fields >> name >> word;
    WeighedCall one{call(kX8664, static_cast<std::uint32_t>(std::stoul(word))), 0};
    for (std::size_t i = 0; i < 4 && fields >> word; ++i) one.data.args[i] = std::stoull(word, nullptr, 0);
    EXPECT_TRUE(fields >> cached >> all) << line;
    one.weight = cache_model ? cached : all;
    found.push_back(one);
  }
  return found;
}

const std::string kDockers = std::string("docker:") + kCorpus + "/docker/default-v29.5.2.json";
const std::string kRedis = std::string("dir:") + kCorpus + "/systemd-live/redis-server__redis-server";
struct Bar {
  const char* name;
  std::vector<std::string> layers;
  double with_cache, without_cache;
  std::size_t instructions;
};
const Bar kBars[] = {{"docker's default", {kDockers}, 11.0, 10.0, 225},
                     {"redis-server's 34 filters and docker's default", {kRedis, kDockers}, 12.0, 11.0, 140}};

TEST(Bars, HoldForDockersDefaultAloneAndOverARealServicesFilters) {
  if (!std::ifstream(std::string(kCorpus) + "/../calls.tsv")) GTEST_SKIP() << "no corpus";
  for (const Bar& bar : kBars)
    for (const bool cache_model : {true, false}) {
      SCOPED_TRACE(fmt::format("{}, {} the cache model", bar.name, cache_model ? "with" : "without"));
      emit::Options options;
      options.cache_model = cache_model;
      const std::vector<WeighedCall> weighed = corpus_calls(cache_model);
      ASSERT_GT(weighed.size(), 40U);
      const Figures now = figures(flat(bar.layers, options), weighed);
      ASSERT_GT(now.instructions, 0U);
      EXPECT_LE(now.cost, cache_model ? bar.with_cache : bar.without_cache);
      EXPECT_LE(now.instructions, bar.instructions);
    }
}

// The published measurement that snap-template.json stands for: six calls under an allow list as linear code and as a
// tree.
struct Published {
  const char* name;
  std::uint32_t linear, tree;
  std::uint32_t bar;  // with the six calls weighted equally
};
constexpr Published kPublished[] = {{"read", 6, 14, 6},      {"lseek", 14, 14, 8},       {"mmap", 15, 14, 8},
                                    {"getppid", 108, 16, 9}, {"epoll_wait", 192, 16, 9}, {"openat", 204, 16, 9}};

std::uint32_t executed(const program::Code& code, const char* name) {
  const auto run = program::run(code, call(kX8664, abi::syscall_number(abi::Arch::x86_64, name).value()));
  EXPECT_EQ(run.verdict, abi::kAllow) << name;
  return run.executed;
}

TEST(SnapTemplate, SixEquallyFrequentCallsAreFoundInFewInstructions) {
  std::string rows;
  for (const Published& row : kPublished) rows += std::string(row.name) + "\t1\n";
  Diagnostics diagnostics;
  emit::Options options;
  options.weights = emit::Weights::parse(rows, "six", diagnostics).value();
  for (const bool cache_model : {true, false}) {
    options.cache_model = cache_model;
    const program::Code code = flat({kSnap}, options);
    for (const Published& row : kPublished) EXPECT_LE(executed(code, row.name), row.bar) << row.name;
  }
}

TEST(SnapTemplate, IsNeverSlowerThanTheBetterOfThePublishedBuilds) {
  for (const bool cache_model : {true, false}) {
    emit::Options options;
    options.cache_model = cache_model;
    const program::Code code = flat({kSnap}, options);
    for (const Published& row : kPublished)
      EXPECT_LE(executed(code, row.name), std::min(row.linear, row.tree)) << row.name;
  }
}

}  // namespace
}  // namespace seccompress::test
