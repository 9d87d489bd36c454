// SPDX-License-Identifier: Apache-2.0
// The search over ranges against the best tree there is, for every short line: up to eight intervals, each one value
// or many, three exits, several weightings. Cost: executed converted instructions of the laid out program, without
// what every program has (the load, the RET).
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdio>
#include <limits>
#include <optional>

#include "emit/dispatch.h"
#include "emit/layout.h"
#include "support/program_builder.h"
#include "support/random_code.h"

namespace seccompress::test {
namespace {

constexpr std::size_t kMost = 8;
constexpr std::array kVerdicts = {abi::kAllow, abi::kErrno | 1U, abi::kErrno | 38U};

struct Interval {
  bool single;
  std::size_t exit;
  double weight;
};
using Instance = std::vector<Interval>;

// All binary trees of JEQ (single values) and JGE (bounds), by dynamic programming over what is left.
class BestTree {
 public:
  explicit BestTree(const Instance& instance) : instance_(instance) { known_.fill(-1); }
  double cost() { return of((1U << instance_.size()) - 1); }

 private:
  double of(unsigned left) {
    if (known_[left] >= 0) return known_[left];
    return known_[left] = is_one_exit(left) ? 0 : weight(left) + best_test(left);
  }
  double best_test(unsigned left) {
    double best = std::numeric_limits<double>::infinity();
    for (unsigned i = 0; i < instance_.size(); ++i) {
      const unsigned bit = 1U << i, below = left & (bit - 1);
      if ((left & bit) == 0) continue;
      if (instance_[i].single) best = std::min(best, of(left & ~bit));
      if (below != 0) best = std::min(best, of(below) + of(left & ~below));
    }
    return best;
  }
  bool is_one_exit(unsigned left) const {
    const std::size_t exit = instance_[static_cast<std::size_t>(std::countr_zero(left))].exit;
    for (; left != 0; left &= left - 1)
      if (instance_[static_cast<std::size_t>(std::countr_zero(left))].exit != exit) return false;
    return true;
  }
  double weight(unsigned left) const {
    double sum = 0;
    for (; left != 0; left &= left - 1) sum += instance_[static_cast<std::size_t>(std::countr_zero(left))].weight;
    return sum;
  }

  const Instance& instance_;
  std::array<double, 1U << kMost> known_{};
};

// The best tree of JGE alone.
double best_alphabetic(const Instance& instance, std::size_t i, std::size_t j) {
  std::array<std::array<double, kMost>, kMost> cost{};
  for (std::size_t length = 2; length <= j - i + 1; ++length)
    for (std::size_t first = i; first + length <= j + 1; ++first) {
      const std::size_t last = first + length - 1;
      double weight = 0, best = std::numeric_limits<double>::infinity();
      for (std::size_t at = first; at <= last; ++at) weight += instance[at].weight;
      for (std::size_t at = first; at < last; ++at) best = std::min(best, cost[first][at] + cost[at + 1][last]);
      cost[first][last] = weight + best;
    }
  return cost[i][j];
}

emit::Ranges ranges_of(const Instance& instance, emit::CodeGraph& graph) {
  emit::Ranges ranges;
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < instance.size(); ++i) {
    const std::uint32_t last = i + 1 == instance.size() ? 0xffffffffU : first + (instance[i].single ? 0 : 9);
    ranges.push_back({first, last, graph.ret(kVerdicts.at(instance[i].exit)), instance[i].weight});
    first = last + 1;
  }
  return ranges;
}

// Checks the verdicts on the way; nullopt: one was wrong.
std::optional<double> cost_of_ours(const Instance& instance) {
  emit::CodeGraph graph;
  const emit::Ranges ranges = ranges_of(instance, graph);
  const emit::OpId root = emit::dispatch(graph, ranges, emit::Search::fast).root;
  const auto code = emit::layout(graph, graph.load(abi::kNr, root));
  if (!code) return std::nullopt;
  double cost = 0;
  for (std::size_t i = 0; i < instance.size(); ++i) {
    const program::Run first = program::run(*code, call(kX8664, ranges[i].first));
    const program::Run last = program::run(*code, call(kX8664, ranges[i].last));
    if (first.verdict != kVerdicts.at(instance[i].exit) || last.verdict != first.verdict) return std::nullopt;
    cost += instance[i].weight * (first.executed_converted - 3);
  }
  return cost;
}

// Neighbours have different exits; the last interval goes up to 2^32 - 1 and is no single value.
template <class Visit>
void for_each_shape(std::size_t n, Visit visit) {
  for (unsigned singles = 0; singles < 1U << (n - 1); ++singles)
    for (unsigned turns = 0; turns < 1U << (n - 2); ++turns) {
      Instance instance(n);
      for (std::size_t i = 0; i < n; ++i) {
        instance[i].single = (singles >> i & 1U) != 0;
        instance[i].exit = i == 0 ? 0 : i == 1 ? 1 : (instance[i - 1].exit + 1 + (turns >> (i - 2) & 1U)) % 3;
      }
      visit(instance);
    }
}

constexpr std::size_t kWeightings = 5;
double weight(std::size_t weighting, std::size_t i, std::size_t n, Random& random) {
  switch (weighting) {
    case 0: return 1;
    case 1: return 1.0 / static_cast<double>(i + 1);
    case 2: return static_cast<double>(1U << (i * 5 % n));  // a few are hot, in no order
    case 3: return i % 3 == 1 ? 30 : 1;
    default: return 1 + static_cast<double>(random() % 1000);
  }
}

TEST(NumberDispatch, IsNearTheBestTreeOnEveryShortLine) {
  Random random(seed_or(4));
  std::size_t count = 0;
  double sum = 0, worst = 1, over_alphabetic = 0;
  for (std::size_t n = 2; n <= kMost; ++n)
    for_each_shape(n, [&](Instance& instance) {
      for (std::size_t weighting = 0; weighting < kWeightings; ++weighting) {
        double whole = 0;
        for (std::size_t i = 0; i < n; ++i) whole += instance[i].weight = weight(weighting, i, n, random);
        const std::optional<double> ours = cost_of_ours(instance);
        ASSERT_TRUE(ours);
        const double best = BestTree(instance).cost();
        sum += *ours / best, ++count;
        worst = std::max(worst, *ours / best);
        over_alphabetic = std::max(over_alphabetic, (*ours - best_alphabetic(instance, 0, n - 1)) / whole);
      }
    });
  std::printf("%zu lines: mean %.4f, worst %.4f of the optimum; at most %.4f tests above the alphabetic tree\n", count,
              sum / static_cast<double>(count), worst, over_alphabetic);
  EXPECT_LE(sum / static_cast<double>(count), 1.03);
  EXPECT_LE(worst, 1.10);
  EXPECT_LE(over_alphabetic, 1e-4);  // rare ranges are given a floor of weight
}

}  // namespace
}  // namespace seccompress::test
