// SPDX-License-Identifier: Apache-2.0
// What a filter adds, against brute force: drop it and compare, number by number.
#include "explain/changes.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <set>

#include "explain/argument.h"
#include "merge/merge.h"
#include "pipeline.h"
#include "raise/raise.h"
#include "support/paths.h"
#include "support/tiny_code.h"

namespace seccompress::test {
namespace {

struct Seen {
  bool differs = false, agrees = false;
};

// Over all inputs that the tiny alphabet can tell apart.
std::map<std::uint32_t, Seen> brute_force(const std::vector<Code>& whole, const std::vector<Code>& without,
                                          std::span<const abi::Word> words) {
  std::map<std::uint32_t, Seen> seen;
  for_each_input(words, [&](const abi::SeccompData& input) {
    abi::SeccompData data = input;
    data.arch = kX8664;
    const auto nr = static_cast<std::uint32_t>(data.nr);
    const bool same = abi::normalize(program::interpret_stack(whole, data)) ==
                      abi::normalize(program::interpret_stack(without, data));
    (same ? seen[nr].agrees : seen[nr].differs) = true;
    return true;
  });
  return seen;
}

TEST(Changes, OfDroppingEachFilterAreWhatBruteForceFinds) {
  Random random(seed_or(20261130));
  const std::vector<abi::Word> words = {abi::kNr, abi::arg_low(0)};
  std::size_t listed = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<Code> codes;
    std::vector<diagram::Node> nodes;
    diagram::Store store;
    for (std::size_t i = 2 + random() % 3; i > 0; --i) {
      codes.push_back(tiny_code(random, {.words = words}));
      const auto node = raise::raise(codes.back(), store);
      ASSERT_TRUE(node) << to_string(node.error());
      nodes.push_back(*node);
    }
    const auto whole = merge::merge(store, nodes);
    const auto without = merge::without_each(store, nodes);
    ASSERT_TRUE(whole && without);
    for (std::size_t i = 0; i < codes.size(); ++i) {
      std::vector<Code> rest = codes;
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
      std::map<std::uint32_t, explain::ChangedCall> found;
      const explain::Changes changes = explain::changes_between(store, *whole, without->at(i));
      for (const explain::ChangedCall& one : changes.calls[0]) found[one.nr] = one;
      for (const auto& [nr, seen] : brute_force(codes, rest, words)) {
        if (nr >= 512) continue;
        ASSERT_EQ(found.contains(nr), seen.differs) << "round " << round << " filter " << i << " number " << nr;
        if (!seen.differs) continue;
        ++listed;
        ASSERT_EQ(found[nr].for_some_arguments, seen.agrees)
            << "round " << round << " filter " << i << " number " << nr;
      }
    }
  }
  EXPECT_GT(listed, 100U);
}

TEST(Changes, OutsideTheKnownNumbersAreShownByACall) {
  diagram::Store store;
  const diagram::Node allow = store.terminal(abi::kAllow), refuse = store.terminal(abi::kErrno | 1);
  const diagram::Node odd = store.test(abi::kArch, UINT32_MAX, diagram::Compare::eq, 0x12345678, refuse, allow);
  const explain::Changes changes = explain::changes_between(store, odd, allow);
  ASSERT_TRUE(changes.elsewhere);
  EXPECT_EQ(changes.elsewhere->arch, 0x12345678U);
  for (const auto& calls : changes.calls) EXPECT_TRUE(calls.empty());
  EXPECT_FALSE(explain::changes_between(store, odd, odd).any());
}

// A real service under a container's filter: what is listed has a call that shows it, checked by running the programs;
// what is not listed differs on no call tried.
TEST(Changes, OfARealStackHoldOnItsPrograms) {
  const std::string folder = std::string(kCorpus) + "/systemd-live/redis-server__redis-server";
  const std::string profile = std::string(kCorpus) + "/docker/default-v29.5.2.json";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no corpus beside the checkout";
  PipelineOptions options;
  Stack stack = make_stack(options);
  Diagnostics diagnostics;
  ASSERT_TRUE(add_layer(stack, read::LayerSpec{"dir", folder}, options, diagnostics));
  ASSERT_TRUE(add_layer(stack, read::LayerSpec{"docker", profile}, options, diagnostics));
  std::vector<diagram::Node> nodes;
  for (const CompiledLayer& layer : stack.layers)
    nodes.insert(nodes.end(), layer.filter_nodes.begin(), layer.filter_nodes.end());
  const std::vector<Code> codes = stack.programs();
  const auto whole = merge::merge(*stack.store, nodes);
  const auto without = merge::without_each(*stack.store, nodes);
  ASSERT_TRUE(whole && without);
  Random random(seed_or(20261130));
  std::size_t changed = 0;
  for (std::size_t i = 0; i < codes.size(); ++i) {
    std::vector<Code> rest = codes;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    const auto differs = [&](const abi::SeccompData& data) {
      return abi::normalize(program::interpret_stack(codes, data)) !=
             abi::normalize(program::interpret_stack(rest, data));
    };
    const explain::Changes changes = explain::changes_between(*stack.store, *whole, without->at(i));
    std::set<std::uint32_t> listed;
    for (const explain::ChangedCall& one : changes.calls[0]) listed.insert(one.nr);
    changed += listed.size();
    for (std::uint32_t nr = 0; nr < 512; ++nr) {
      const diagram::Node was = explain::node_of_call(*stack.store, *whole, kX8664, nr);
      const diagram::Node is = explain::node_of_call(*stack.store, without->at(i), kX8664, nr);
      if (auto data = stack.store->difference(was, is)) {
        data->arch = kX8664;
        data->nr = static_cast<int>(nr);
        EXPECT_TRUE(listed.contains(nr) && differs(*data)) << "filter " << i << " number " << nr;
      }
      if (listed.contains(nr)) continue;
      for (int round = 0; round < 8; ++round) {
        abi::SeccompData data = random_data(random, codes);
        data.arch = kX8664;
        data.nr = static_cast<int>(nr);
        ASSERT_FALSE(differs(data)) << "filter " << i << " number " << nr;
      }
    }
  }
  EXPECT_GT(changed, 50U);
}

}  // namespace
}  // namespace seccompress::test
