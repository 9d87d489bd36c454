// SPDX-License-Identifier: Apache-2.0
// Input: the figures of trials. Output: their median, extremes and quartiles; ratios. Entry points: spread, ratios.
#include "bench/statistics.h"

#include <algorithm>
#include <cmath>

namespace seccompress::bench {
namespace {

// The value at `share` of the way through the sorted values (Hyndman and Fan's type 7).
double quantile(const std::vector<double>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  if (below + 1 >= sorted.size()) return sorted.back();
  return sorted[below] + (at - std::floor(at)) * (sorted[below + 1] - sorted[below]);
}

}  // namespace

Spread spread(std::vector<double> values) {
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  return {quantile(values, 0.5), values.front(), values.back(), quantile(values, 0.25), quantile(values, 0.75)};
}

std::vector<double> ratios(std::span<const double> values, std::span<const double> reference) {
  std::vector<double> result;
  for (std::size_t i = 0; i < std::min(values.size(), reference.size()); ++i)
    if (reference[i] != 0) result.push_back(values[i] / reference[i]);
  return result;
}

}  // namespace seccompress::bench
