// SPDX-License-Identifier: Apache-2.0
// What repeated trials say: medians and how far they spread. A trial of one variant is compared with the trial of the
// reference that ran next to it, so that slow changes of the machine hit both.
#pragma once

#include <span>
#include <vector>

namespace seccompress::bench {

struct Spread {
  double median = 0, min = 0, max = 0;
  double lower_quartile = 0, upper_quartile = 0;  // linear between the values
};
// Of no values: all 0. An even number of values has the mean of the middle two as its median.
Spread spread(std::vector<double> values);

// values[i] / reference[i] for the trials that both have; those whose reference is 0 are left out.
std::vector<double> ratios(std::span<const double> values, std::span<const double> reference);

}  // namespace seccompress::bench
