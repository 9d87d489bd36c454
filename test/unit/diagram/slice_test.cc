// SPDX-License-Identifier: Apache-2.0
#include "diagram/slice.h"

#include <gtest/gtest.h>

#include "lower/lower.h"
#include "support/random_policy.h"

namespace seccompress::test {
namespace {

using diagram::Node;
using diagram::Place;
using diagram::Store;

std::vector<Node> slices_of(Store& store, Node node, std::size_t parts) {
  const std::vector<Place> places = diagram::places_between(store, node, parts);
  EXPECT_LT(places.size(), parts);
  std::vector<Node> slices;
  for (std::size_t i = 0; i <= places.size(); ++i)
    slices.push_back(diagram::slice(store, node, i > 0 ? std::optional(places[i - 1]) : std::nullopt,
                                    i < places.size() ? std::optional(places[i]) : std::nullopt,
                                    store.terminal(abi::kAllow)));
  return slices;
}

TEST(Slice, ATerminalHasNoPlaces) {
  Store store;
  EXPECT_TRUE(diagram::places_between(store, store.terminal(abi::kAllow), 4).empty());
}

TEST(Slice, WithoutBoundsIsTheFunction) {
  Store store;
  const Node node =
      store.test(abi::kNr, ~0U, diagram::Compare::eq, 7, store.terminal(abi::kErrno | 1), store.terminal(abi::kAllow));
  EXPECT_EQ(diagram::slice(store, node, std::nullopt, std::nullopt, store.terminal(abi::kTrap)), node);
}

TEST(Slice, PartsOfALongListOfValuesAreAboutEqual) {
  Store store;
  const Node allow = store.terminal(abi::kAllow), refuse = store.terminal(abi::kErrno | 25);
  std::vector<diagram::Piece> pieces;
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    pieces.push_back({i * 4'000'037 - 1, allow});
    pieces.push_back({i * 4'000'037, refuse});
  }
  pieces.push_back({UINT32_MAX, allow});
  const Node node = store.select(abi::arg_low(1), pieces);
  for (const Node part : slices_of(store, node, 2)) {
    std::size_t refused = 0;
    for (std::uint32_t i = 1; i <= 1000; ++i) {
      abi::SeccompData data{};
      data.args[1] = i * 4'000'037U;
      if (store.evaluate(part, data) != abi::kAllow) ++refused;
    }
    EXPECT_GT(refused, 400U);
    EXPECT_LT(refused, 600U);
  }
}

// The kernel's answer to all slices together is the function, and no two of them refuse the same input.
TEST(Slice, TogetherAreTheFunction) {
  Random random(seed_or(21));
  for (int i = 0; i < 300; ++i) {
    Store store;
    const Node node = lower::lower(random_policy(random, {.rules = 1 + random() % 8, .conditions = 3}), store).value();
    const std::vector<Node> slices = slices_of(store, node, 1 + random() % 6);
    Node together = store.terminal(abi::kAllow);
    for (const Node slice : slices) together = store.stack(slice, together);
    EXPECT_EQ(together, node);
    for (std::size_t a = 0; a < slices.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        EXPECT_FALSE(store.witness(
            slices[a], slices[b], [](abi::Verdict x, abi::Verdict y) { return x != abi::kAllow && y != abi::kAllow; }));
  }
}

}  // namespace
}  // namespace seccompress::test
