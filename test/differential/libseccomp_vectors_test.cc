// SPDX-License-Identifier: Apache-2.0
// libseccomp's own simulator tables, where the corpus lies beside the checkout: its recorded rules through our
// lowering, every row that applies to this machine's words. Its column of architectures: `all` and `all_le`, `all_64`
// are the native one; `+name` and `+all_le` always; `-name` removes; a bare name only where it is native (x86_64 here).
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "abi/multiplex.h"
#include "abi/syscalls.h"
#include "lower/lower.h"
#include "policy/evaluate.h"
#include "policy/print.h"
#include "support/file.h"
#include "support/paths.h"
#include "support/policy_text.h"

namespace seccompress::test {
namespace {

using abi::Arch;
using nlohmann::json;

struct Inexpressible {
  std::string why;
};

class Recording {
 public:
  explicit Recording(const json& calls) {
    for (const json& call : calls)
      if (call[0].is_number()) apply(call);
    // Rules hold for the architectures that were there before them; a policy's hold for all of its own.
    for (const auto& [number, filter] : filters_)
      for (const Arch arch : filter.architectures)
        if (late_.count(arch) > 0) throw Inexpressible{"rules that hold for architectures added earlier only"};
  }
  // The filter that answers for an architecture; the first one when none has it.
  const policy::Policy& filter_for(Arch arch) const {
    for (const auto& [number, filter] : filters_)
      if (std::count(filter.architectures.begin(), filter.architectures.end(), arch) > 0) return filter;
    return filters_.begin()->second;
  }
  std::vector<Arch> architectures() const {
    std::vector<Arch> all;
    for (const auto& [number, filter] : filters_)
      all.insert(all.end(), filter.architectures.begin(), filter.architectures.end());
    return all;
  }

 private:
  void apply(const json& call) {
    policy::Policy& filter = filters_[call[0].get<int>()];
    const std::string verb = call[1];
    if (verb == "init") {
      filter.default_verdict = verdict_of(call[2]);
      filter.architectures = {Arch::x86_64};
    } else if (verb == "add_arch") {
      add_arch(filter, call[2]);
    } else if (verb == "remove_arch") {
      std::erase(filter.architectures, arch_of(call[2]));
    } else if (verb == "add_rule" || verb == "add_rule_exactly") {
      add_rule(filter, call);
    } else if (verb == "reset") {
      filter.rules.clear();
    } else if (verb == "start_transaction") {
      saved_.push_back(filter);
    } else if (verb == "reject_transaction") {
      filter = saved_.back(), saved_.pop_back();
    } else if (verb == "commit_transaction") {
      saved_.pop_back();
    } else if (verb != "syscall_priority" && verb != "precompute" && verb != "set_attr" && verb != "merge") {
      throw Inexpressible{"verb " + verb};
    }
  }

  static abi::Verdict verdict_of(const std::string& text) {
    const auto verdict = text == "KILL" ? abi::kKillThread : parse_verdict(text);
    if (!verdict) throw Inexpressible{"verdict " + text};
    return *verdict;
  }

  static std::optional<Arch> arch_of(const std::string& name) {
    return name == "native" ? Arch::x86_64 : abi::arch_from_name(name);
  }

  void add_arch(policy::Policy& filter, const std::string& name) {
    const auto arch = arch_of(name);
    if (!arch) return;  // others (sh, m68k) have no table of ours; their rows are left out
    filter.architectures.push_back(*arch);
    if (!filter.rules.empty()) late_.insert(*arch);
  }

  // A call by name, or by a number that has none.
  static void name(policy::Rule& rule, const json& call) {
    if (call.is_string()) {
      rule.names = {call};
      return;
    }
    const auto number = call.get<std::int64_t>();
    if (number < -1) return;  // a pseudo number
    const auto known = abi::syscall_name(abi::facts(Arch::x86_64).audit, static_cast<std::uint32_t>(number));
    if (known.empty())
      rule.numbers = {static_cast<std::uint32_t>(number)};
    else
      rule.names = {std::string(known)};
  }

  void add_rule(policy::Policy& filter, const json& call) {
    policy::Rule rule;
    rule.verdict = verdict_of(call[2]);
    name(rule, call[3]);
    static const std::map<std::string, policy::Operator> kOperators = {{"NE", policy::Operator::ne},
                                                                       {"LT", policy::Operator::lt},
                                                                       {"LE", policy::Operator::le},
                                                                       {"EQ", policy::Operator::eq},
                                                                       {"GE", policy::Operator::ge},
                                                                       {"GT", policy::Operator::gt},
                                                                       {"MASKED_EQ", policy::Operator::masked_eq}};
    for (std::size_t i = 4; i < call.size(); ++i)
      rule.all_of.push_back({call[i]["arg"], kOperators.at(call[i]["op"]), call[i]["a"], call[i]["b"], {}});
    filter.rules.push_back(std::move(rule));
  }

  std::map<int, policy::Policy> filters_;
  std::vector<policy::Policy> saved_;
  std::set<Arch> late_;  // added after rules
};

using Row = std::vector<std::string>;  // test arch syscall a0..a5 result

std::map<std::string, std::vector<Row>> read_rows(const std::string& path) {
  std::istringstream file(read_file(path, 1U << 24U).value());
  std::map<std::string, std::vector<Row>> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream fields(line);
    Row row;
    for (std::string field; std::getline(fields, field, '\t');) row.push_back(field);
    if (row.size() == 10 && row[0] != "test") rows[row[0]].push_back(row);
  }
  return rows;
}

std::vector<Arch> architectures_of(const std::string& column, const Recording& recording) {
  std::vector<Arch> all;
  std::istringstream tokens(column);
  for (std::string token; std::getline(tokens, token, ',');) {
    if (token == "all" || token == "all_le" || token == "all_64" || token == "x86_64") {
      all.push_back(Arch::x86_64);
    } else if (token == "+all_le" || token == "+all_be") {
      for (const Arch arch : recording.architectures())
        if (abi::is_big_endian(arch) == (token == "+all_be")) all.push_back(arch);
    } else if (token[0] == '+') {
      if (const auto arch = abi::arch_from_name(token.substr(1))) all.push_back(*arch);
    } else if (token[0] == '-') {
      if (const auto arch = abi::arch_from_name(token.substr(1))) std::erase(all, *arch);
    }
  }
  return all;
}

struct Range {
  std::uint64_t first, last;
};
std::optional<Range> parse_range(const std::string& text) {
  const auto dash = text.find('-', 1);
  const auto first = parse_number(text.substr(0, dash));
  if (!first) return std::nullopt;
  const auto last = dash == std::string::npos ? first : parse_number(text.substr(dash + 1));
  return Range{*first, last.value_or(*first)};
}

std::vector<std::uint32_t> numbers_of(const std::string& text, Arch arch) {
  if (text == "-1") return {UINT32_MAX};
  const auto range = parse_range(text);
  if (!range) {
    if (const auto through = abi::multiplexed_call(arch, text)) return {through->number};
    const auto number = abi::syscall_number(arch, text);
    return number ? std::vector{*number} : std::vector<std::uint32_t>{};
  }
  std::vector<std::uint32_t> all;
  for (std::uint64_t n = range->first; n <= range->last; ++n) all.push_back(static_cast<std::uint32_t>(n));
  return all;
}

struct Counts {
  std::size_t rows = 0, calls = 0, left_out = 0;
};

// The row's call, once with the first value of every range and once for each further value (at most 64) of each.
std::vector<abi::SeccompData> calls_of(const Row& row, Arch arch, std::uint32_t number) {
  abi::SeccompData call{};
  call.arch = abi::facts(arch).audit;
  call.nr = static_cast<int>(number);
  std::array<std::optional<Range>, 6> ranges;
  for (std::size_t i = 0; i < 6; ++i) {
    ranges[i] = parse_range(row[3 + i]);
    if (ranges[i]) call.args[i] = ranges[i]->first;
  }
  std::vector<abi::SeccompData> calls{call};
  for (std::size_t i = 0; i < 6; ++i) {
    if (!ranges[i]) continue;
    for (std::uint64_t step = 1; step <= std::min<std::uint64_t>(64, ranges[i]->last - ranges[i]->first); ++step) {
      calls.push_back(call);
      calls.back().args[i] += step;
    }
  }
  return calls;
}

abi::Verdict wanted_of(const Row& row) { return row[9] == "KILL" ? abi::kKillThread : parse_verdict(row[9]).value(); }

void check_row(const Row& row, const Recording& recording, Counts& counts) {
  const abi::Verdict wanted = wanted_of(row);
  bool any = false;
  for (const Arch arch : architectures_of(row[1], recording)) {
    const policy::Policy& policy = recording.filter_for(arch);
    diagram::Store store;
    const auto node = lower::lower(policy, store);
    ASSERT_TRUE(node);
    const program::Code reference = lower::reference_program(policy);
    for (const std::uint32_t number : numbers_of(row[2], arch))
      for (const abi::SeccompData& call : calls_of(row, arch, number)) {
        ++counts.calls, any = true;
        EXPECT_EQ(policy::evaluate(policy, call), wanted) << ::testing::PrintToString(row) << ' ' << number;
        EXPECT_EQ(store.evaluate(*node, call), wanted);
        EXPECT_EQ(program::interpret(reference, call), wanted);
      }
  }
  ++(any ? counts.rows : counts.left_out);
}

TEST(LibseccompVectors, EveryRowThatAppliesGetsItsVerdict) {
  const std::string folder = std::string(kCorpus) + "/bpf/libseccomp";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no corpus";
  const auto rows = read_rows(folder + "/sim-vectors.tsv");
  Counts counts;
  std::map<std::string, std::string> left_out;
  std::size_t tests = 0;
  for (const auto& [test, table] : rows) {
    const std::string path = folder + "/rules/" + test + ".json";
    if (!std::filesystem::exists(path)) continue;
    try {
      const Recording recording(json::parse(read_file(path, 1U << 24U).value()));
      for (const Row& row : table) check_row(row, recording, counts);
      ++tests;
    } catch (const Inexpressible& reason) {
      left_out[test] = reason.why;
    }
  }
  std::printf("%zu tests, %zu rows, %zu calls; %zu rows are for other machines\n", tests, counts.rows, counts.calls,
              counts.left_out);
  EXPECT_EQ(left_out, (std::map<std::string, std::string>{}));
  EXPECT_EQ(tests, 43U);
  EXPECT_EQ(counts.rows, 471U);
}

}  // namespace
}  // namespace seccompress::test
