// SPDX-License-Identifier: Apache-2.0
// NOUN: what a diagram ends in where no single verdict is known: carried code of some filters and at most one verdict,
// newest first, combined as the kernel combines filters.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "opaque/graph.h"

namespace seccompress::opaque {

struct Item {
  bool is_code = false;
  std::uint32_t value = abi::kAllow;  // a root in the graph, or a normalized verdict
  auto operator<=>(const Item&) const = default;
};
using Items = std::vector<Item>;  // newest first
using LeafId = std::uint32_t;

class Leaves {
 public:
  Graph& graph() { return graph_; }
  const Graph& graph() const { return graph_; }

  const Items& operator[](LeafId leaf) const { return leaves_[leaf]; }
  // The stack of two. Simplified: code that cannot win and verdicts that cannot win are gone; a single verdict
  // means that no code is left. Pure: file() makes it a leaf.
  Items stack(const Items& newer, const Items& older) const;
  LeafId file(Items items);

  abi::Verdict evaluate(LeafId leaf, const abi::SeccompData& data) const;  // normalized
  // Normalized verdicts that may come, ascending; nullopt: any word may, some code returns what it computed.
  std::optional<std::vector<abi::Verdict>> verdicts(LeafId leaf) const;
  std::uint16_t words(LeafId leaf) const;  // bit w: some code loads abi::Word w

 private:
  // Of one root; computed: it may return any word.
  struct Summary {
    std::vector<abi::Verdict> verdicts;
    bool computed = false;
  };
  const Summary& summary(OpId root) const;
  // alone: nothing but the two is in the stack.
  bool can_win(const Item& code, const Item& verdict, bool is_newer, bool alone) const;
  void drop_idle(Items& items) const;

  Graph graph_;
  std::vector<Items> leaves_;
  std::map<Items, LeafId> index_;
  mutable std::map<OpId, Summary> summaries_;
};

}  // namespace seccompress::opaque
