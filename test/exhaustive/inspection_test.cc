// SPDX-License-Identifier: Apache-2.0
// What `inspect` says about a hardened unit below a container's profile, against brute force: every filter's rules are
// walked (policy::evaluate) for every number of every architecture and every combination of the values that some
// filter's conditions tell apart; the kernel's stacking is a loop over the answers. No diagram, no program.
#include "inspection.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "abi/syscalls.h"
#include "policy/evaluate.h"
#include "support/paths.h"

namespace seccompress::cmd {
namespace {

using Place = std::pair<std::uint32_t, std::uint32_t>;  // seccomp_data.arch, nr
const std::string kInputs = std::string(test::kTestData) + "/golden/cli/inputs/";

// Calls by number, and what each filter answers to each.
struct Answers {
  std::vector<Place> places;                        // one a call
  std::vector<std::vector<abi::Verdict>> verdicts;  // one list a call: oldest filter first
};

// Besides the borders, each bit of a mask by itself: other filters' masks may share the rest.
void add_values(const policy::Condition& condition, std::set<std::uint64_t>& values) {
  for (const std::uint64_t value : policy::interesting_values(condition)) values.insert(value);
  if (condition.op != policy::Operator::masked_eq) return;
  for (std::uint64_t bit = 1; bit != 0; bit <<= 1)
    if ((condition.value & bit) != 0) values.insert((condition.value_two & condition.value) ^ bit);
}

std::vector<std::set<std::uint64_t>> values_of(const std::vector<explain::Filter>& filters, Place place) {
  std::vector<std::set<std::uint64_t>> values(6, {0x1234});
  const std::string name = abi::syscall_label(place.first, place.second);
  if (name == "socketcall" || name == "ipc")  // a rule for a call that they multiplex is one on their first argument
    for (std::uint64_t call = 0; call < 32; ++call) values[0].insert(call);
  for (const explain::Filter& filter : filters)
    for (const policy::Rule& rule : filter.policy->rules) {
      const bool named = std::find(rule.names.begin(), rule.names.end(), name) != rule.names.end();
      const bool numbered = std::find(rule.numbers.begin(), rule.numbers.end(), place.second) != rule.numbers.end();
      for (const policy::Condition& condition : rule.all_of)
        if (named || numbered) add_values(condition, values[condition.index]);
    }
  return values;
}

void add_calls(const std::vector<explain::Filter>& filters, Place place, Answers& answers) {
  const auto values = values_of(filters, place);
  std::vector<abi::SeccompData> calls(1);
  calls[0].arch = place.first;
  calls[0].nr = static_cast<int>(place.second);
  for (std::size_t index = 0; index < 6; ++index) {
    std::vector<abi::SeccompData> more;
    for (const abi::SeccompData& call : calls)
      for (const std::uint64_t value : values[index]) {
        more.push_back(call);
        more.back().args[index] = value;
      }
    calls = std::move(more);
  }
  for (const abi::SeccompData& call : calls) {
    answers.places.push_back(place);
    answers.verdicts.emplace_back();
    for (const explain::Filter& filter : filters)
      answers.verdicts.back().push_back(policy::evaluate(*filter.policy, call));
  }
}

// The verdict of the filters that are in the stack (kernel/seccomp.c seccomp_run_filters: newest first, the smallest
// signed action wins, on a tie the earlier one stays), with data only where design section 1 counts it.
abi::Verdict stacked(const std::vector<abi::Verdict>& verdicts, const std::vector<bool>& in) {
  abi::Verdict result = abi::kAllow;
  for (std::size_t i = verdicts.size(); i-- > 0;) {
    const auto action = [](abi::Verdict v) { return static_cast<std::int32_t>(v & 0xffff0000U); };
    if (in[i] && action(verdicts[i]) < action(result)) result = verdicts[i];
  }
  return result;
}

bool same(const Answers& answers, const std::vector<bool>& a, const std::vector<bool>& b) {
  for (const auto& verdicts : answers.verdicts)
    if (stacked(verdicts, a) != stacked(verdicts, b)) return false;
  return true;
}

// Numbers that change between two stacks -> for some arguments only.
std::map<Place, bool> changed(const Answers& answers, const std::vector<bool>& a, const std::vector<bool>& b) {
  std::map<Place, std::pair<bool, bool>> seen;  // changes, stays
  for (std::size_t i = 0; i < answers.places.size(); ++i) {
    auto& [changes, stays] = seen[answers.places[i]];
    (stacked(answers.verdicts[i], a) != stacked(answers.verdicts[i], b) ? changes : stays) = true;
  }
  std::map<Place, bool> result;
  for (const auto& [place, both] : seen)
    if (both.first) result[place] = both.second;
  return result;
}

std::map<Place, bool> as_map(const explain::Changes& changes) {
  std::map<Place, bool> result;
  const auto spaces = explain::number_spaces();
  for (std::size_t i = 0; i < changes.calls.size(); ++i)
    for (const explain::ChangedCall& call : changes.calls[i])
      result[{spaces[i].audit, call.nr}] = call.for_some_arguments;
  return result;
}

// What only one of the two has, in words.
std::string difference(const std::map<Place, bool>& said, const std::map<Place, bool>& found) {
  std::string text;
  const auto add = [&](const char* who, const std::map<Place, bool>& of, const std::map<Place, bool>& other) {
    for (const auto& [place, some] : of) {
      const auto same = other.find(place);
      if (same == other.end() || same->second != some)
        text += who + abi::audit_name(place.first) + ' ' + abi::syscall_label(place.first, place.second) +
                (some ? " (some)" : "") + '\n';
    }
  };
  add("inspect says ", said, found);
  add("brute force says ", found, said);
  return text;
}

class InspectionOfAUnitAndAProfile : public testing::Test {
 protected:
  void SetUp() override {
    options_.read = {.arch = abi::Arch::x86_64, .caps = {"CAP_SYS_ADMIN"}, .kernel = {6, 1}};
    stack_ = make_stack(options_);
    Diagnostics diagnostics;
    for (const read::LayerSpec& spec : {read::LayerSpec{"systemd", kInputs + "worker.service"},
                                        read::LayerSpec{"docker", kInputs + "container.json"}}) {
      const auto added = add_layer(stack_, spec, options_, diagnostics);
      ASSERT_TRUE(added) << to_string(added.error());
    }
    auto found = inspect_stack(stack_, options_);
    ASSERT_TRUE(found) << to_string(found.error());
    found_ = std::move(*found);
    for (const explain::NumberSpace& space : explain::number_spaces())
      for (std::uint32_t nr = space.first; nr < space.first + space.count; ++nr)
        add_calls(found_.filters, {space.audit, nr}, answers_);
    for (const Place& place : {Place{abi::facts(abi::Arch::x86_64).audit, 0xffffffffU},
                               Place{abi::facts(abi::Arch::x86_64).audit, 5000}, Place{0xc00000b7U, 1}, Place{1, 1}})
      add_calls(found_.filters, place, answers_);
  }

  // Drops what can be dropped, oldest first; groups are sets of filters.
  std::vector<bool> drop_redundant(const std::vector<std::vector<std::size_t>>& groups,
                                   std::vector<bool>& redundant) const {
    std::vector<bool> in(found_.filters.size(), true);
    for (std::size_t g = 0; g < groups.size(); ++g) {
      const std::vector<bool> without = dropped(in, groups[g]);
      redundant.push_back(same(answers_, in, without));
      if (redundant.back()) in = without;
    }
    return in;
  }
  static std::vector<bool> dropped(std::vector<bool> in, const std::vector<std::size_t>& group) {
    for (const std::size_t filter : group) in[filter] = false;
    return in;
  }
  void expect_shares(const std::vector<Share>& shares, const std::vector<std::vector<std::size_t>>& groups) const {
    const std::vector<bool> all(found_.filters.size(), true);
    std::vector<bool> redundant;
    const std::vector<bool> kept = drop_redundant(groups, redundant);
    ASSERT_EQ(shares.size(), groups.size());
    for (std::size_t g = 0; g < groups.size(); ++g) {
      SCOPED_TRACE(found_.filters[groups[g].front()].name);
      EXPECT_EQ(shares[g].implied, same(answers_, all, dropped(all, groups[g])));
      EXPECT_EQ(shares[g].redundant, redundant[g]);
      EXPECT_EQ(difference(as_map(shares[g].alone), changed(answers_, all, dropped(all, groups[g]))), "");
      if (redundant[g]) continue;
      EXPECT_EQ(difference(as_map(shares[g].kept), changed(answers_, kept, dropped(kept, groups[g]))), "");
    }
  }

  PipelineOptions options_;
  Stack stack_;
  Inspection found_;
  Answers answers_;
};

TEST_F(InspectionOfAUnitAndAProfile, SaysWhatEachFilterAloneDecides) {
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < found_.filters.size(); ++i) groups.push_back({i});
  expect_shares(found_.filter_shares, groups);
  EXPECT_GT(found_.redundant_filters(), 10U);
  EXPECT_LT(found_.redundant_filters() + 3, found_.filters.size());
}

TEST_F(InspectionOfAUnitAndAProfile, SaysWhatEachLayerAloneDecides) {
  std::vector<std::vector<std::size_t>> groups(2);
  for (std::size_t i = 0; i < found_.filters.size(); ++i) groups[found_.filters[i].layer].push_back(i);
  expect_shares(found_.layer_shares, groups);
}

}  // namespace
}  // namespace seccompress::cmd
