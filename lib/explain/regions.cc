// SPDX-License-Identifier: Apache-2.0
// Input: a diagram and a call that is partly known. Output: a table (conditions -> verdict) over what is not. Entry:
// regions_of. Method: a walk that follows the known values and branches at the exits of the others.
// Where carried code is reached and not all that it looks at is given, one region says so.
// Weakness: a region that several exits share appears once a path; kMaxRegions bounds that.
#include "explain/regions.h"

#include <algorithm>

namespace seccompress::explain {
namespace {

using diagram::Node;
using diagram::Store;

class RegionWalk {
 public:
  RegionWalk(const Store& store, const PartialCall& call) : store_(store), call_(call) {
    example_.arch = call.arch;
    example_.nr = static_cast<int>(call.nr);
    for (unsigned i = 0; i < kValues; ++i) write_value(example_, i, call.values[i].value_or(0));
  }

  void walk(Node node) {
    const unsigned value = first_value(store_, node);
    if (value == kValues) return store_.is_code(node) ? add_code(node) : add(store_.verdict(node));
    if (call_.values[value]) return walk(follow(node, value));
    for (const Exit& exit : exits_of(store_, node)) {
      if (!result_.complete) return;
      write_value(example_, value, exit.smallest);
      when_.push_back(exit.text);
      walk(exit.node);
      when_.pop_back();
    }
    write_value(example_, value, 0);
  }

  Regions take() {
    std::stable_sort(result_.regions.begin(), result_.regions.end(), [](const Region& a, const Region& b) {
      return abi::strictness(a.verdict) < abi::strictness(b.verdict);
    });
    return std::move(result_);
  }

 private:
  void add(abi::Verdict verdict) { add({verdict, example_, when_, {}, {verdict}}); }
  void add(Region region) {
    if (result_.regions.size() == kMaxRegions)
      result_.complete = false;
    else
      result_.regions.push_back(std::move(region));
  }

  // One verdict when the code looks at nothing but what is given.
  void add_code(Node node) {
    Region region{store_.evaluate(node, example_), example_, when_, {}, {}};
    const std::uint16_t words = store_.leaves().words(store_.leaf(node));
    bool all_given = true;
    for (unsigned value = 0; value < kValues; ++value) {
      const unsigned low = value == kInstructionPointer ? abi::kIpLow : abi::arg_low(value);
      if ((words >> low & 3U) == 0) continue;
      region.computed_from.push_back(value_name(value));
      all_given = all_given && call_.values[value];
    }
    if (all_given) return add(region.verdict);
    region.possible = store_.verdicts(node).value_or(std::vector<abi::Verdict>());
    add(std::move(region));
  }

  // The exit that the known value takes.
  Node follow(Node node, unsigned value) const {
    const std::uint64_t known = *call_.values[value];
    while (first_value(store_, node) == value) {
      const unsigned byte = known >> (56U - 8U * (store_.level(node) % 8U)) & 255U;
      const auto runs = store_.runs(node);
      node = std::find_if(runs.begin(), runs.end(), [&](const diagram::Run& run) { return run.last >= byte; })->node;
    }
    return node;
  }

  const Store& store_;
  const PartialCall& call_;
  abi::SeccompData example_{};
  std::vector<std::string> when_;
  Regions result_;
};

}  // namespace

Regions regions_of(const Store& store, Node root, const PartialCall& call) {
  RegionWalk walk(store, call);
  walk.walk(node_of_call(store, root, call.arch, call.nr));
  return walk.take();
}

}  // namespace seccompress::explain
