// SPDX-License-Identifier: Apache-2.0
// libseccomp's own simulator tables, where the corpus lies beside the checkout: its recorded rules through our
// lowering, every row on every architecture that it names. Its column of architectures: `all` and `all_le`, `all_64`
// are the native one, x86_64 here; `+name` and `+all_le` always; `-name` removes; a bare name where it is native: rules
// name no machine, so a bare x86 is tried with x86 as the native one. What cannot be tried is named one by one in
// libseccomp_vectors_left_out.tsv.
#include <gtest/gtest.h>
#include <seccomp.h>

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
  // The rules as they are on a machine of this architecture.
  Recording(const json& calls, Arch native) : native_(native) {
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
      filter.architectures = {native_};
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

  std::optional<Arch> arch_of(const std::string& name) const {
    return name == "native" ? native_ : abi::arch_from_name(name);
  }

  void add_arch(policy::Policy& filter, const std::string& name) {
    const auto arch = arch_of(name);
    if (!arch) return;  // its rows are left out
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
      rule.all_of.push_back({call[i]["arg"], kOperators.at(call[i]["op"]), value_of(call[i]["a"]), call[i]["b"], {}});
    filter.rules.push_back(std::move(rule));
  }

  // The tables compare with the largest number of the machine's words; recorded was that of 64 bits.
  std::uint64_t value_of(std::uint64_t recorded) const {
    return native_ == Arch::x86 && recorded == INT64_MAX ? INT32_MAX : recorded;
  }

  Arch native_;
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

// The same rules on the machines that rows are for.
struct Recordings {
  Recording on_x86_64, on_x86;
};

struct Place {
  std::string name;
  std::optional<Arch> arch;  // none: unknown to this libseccomp and to us
  const Recording* recording;
};

std::vector<Place> places_of(const std::string& column, const Recordings& recordings) {
  const Recording& recording = recordings.on_x86_64;
  std::vector<Place> all;
  std::istringstream tokens(column);
  for (std::string token; std::getline(tokens, token, ',');) {
    if (token == "all" || token == "all_le" || token == "all_64" || token == "x86_64") {
      all.push_back({"x86_64", Arch::x86_64, &recording});
    } else if (token == "x86") {
      all.push_back({token, Arch::x86, &recordings.on_x86});
    } else if (token == "+all_le" || token == "+all_be") {
      for (const Arch arch : recording.architectures())
        if (abi::is_big_endian(arch) == (token == "+all_be"))
          all.push_back({std::string(abi::arch_name(arch)), arch, &recording});
    } else if (token[0] == '+') {
      all.push_back({token.substr(1), abi::arch_from_name(token.substr(1)), &recording});
    } else if (token[0] == '-') {
      std::erase_if(all, [&](const Place& place) { return place.name == token.substr(1); });
    } else {
      all.push_back({token, std::nullopt, &recording});
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
    if (const auto number = abi::syscall_number(arch, text)) return {*number};
    // libseccomp's number for a call that the architecture lacks: no rule can be about it.
    const int none = seccomp_syscall_resolve_name_arch(abi::facts(arch).token, text.c_str());
    return none == __NR_SCMP_ERROR ? std::vector<std::uint32_t>{} : std::vector{static_cast<std::uint32_t>(none)};
  }
  std::vector<std::uint32_t> all;
  for (std::uint64_t n = range->first; n <= range->last; ++n) all.push_back(static_cast<std::uint32_t>(n));
  return all;
}

// "TEST ROW ARCH CALL"; rows are counted from 1.
std::string place_name(const Row& row, std::size_t number, const Place& place) {
  return row[0] + '\t' + std::to_string(number) + '\t' + place.name + '\t' + row[2];
}

struct Counts {
  std::size_t rows = 0, places = 0, calls = 0;
  std::set<std::string> left_out;
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

// How many calls the row stands for at that place; each is tried.
std::size_t check_place(const Row& row, const Place& place) {
  const abi::Verdict wanted = wanted_of(row);
  const Arch arch = *place.arch;
  const policy::Policy& policy = place.recording->filter_for(arch);
  diagram::Store store;
  const auto node = lower::lower(policy, store);
  EXPECT_TRUE(node);
  if (!node) return 0;
  const program::Code reference = lower::reference_program(policy);
  std::size_t calls = 0;
  for (const std::uint32_t number : numbers_of(row[2], arch))
    for (const abi::SeccompData& call : calls_of(row, arch, number)) {
      ++calls;
      EXPECT_EQ(policy::evaluate(policy, call), wanted) << ::testing::PrintToString(row) << ' ' << number;
      EXPECT_EQ(store.evaluate(*node, call), wanted);
      EXPECT_EQ(program::interpret(reference, call), wanted);
    }
  return calls;
}

void check_row(const Row& row, std::size_t number, const Recordings& recordings, Counts& counts) {
  bool any = false;
  for (const Place& place : places_of(row[1], recordings)) {
    const std::size_t calls = place.arch ? check_place(row, place) : 0;
    if (calls == 0) counts.left_out.insert(place_name(row, number, place));
    counts.calls += calls;
    if (calls > 0) ++counts.places, any = true;
  }
  if (any) ++counts.rows;
}

// The file's lines without their last field, the reason.
std::set<std::string> expected_left_out() {
  std::istringstream file(
      read_file(std::string(kTestData) + "/differential/libseccomp_vectors_left_out.tsv", 1U << 20U).value());
  std::set<std::string> places;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    const std::size_t reason = line.rfind('\t');
    EXPECT_LT(reason + 1, line.size()) << line;
    EXPECT_TRUE(places.insert(line.substr(0, reason)).second) << "twice: " << line;
  }
  return places;
}

TEST(LibseccompVectors, EveryRowThatAppliesGetsItsVerdict) {
  const std::string folder = std::string(kCorpus) + "/bpf/libseccomp";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no corpus";
  const auto rows = read_rows(folder + "/sim-vectors.tsv");
  Counts counts;
  const std::set<std::string> expected = expected_left_out();
  std::map<std::string, std::string> inexpressible;
  std::size_t tests = 0;
  for (const auto& [test, table] : rows) {
    const std::string path = folder + "/rules/" + test + ".json";
    ASSERT_TRUE(std::filesystem::exists(path)) << path;
    try {
      const json calls = json::parse(read_file(path, 1U << 24U).value());
      const Recordings recordings{Recording(calls, Arch::x86_64), Recording(calls, Arch::x86)};
      for (std::size_t i = 0; i < table.size(); ++i) check_row(table[i], i + 1, recordings, counts);
      ++tests;
    } catch (const Inexpressible& reason) {
      inexpressible[test] = reason.why;
    }
  }
  std::printf("%zu tests, %zu rows, %zu rows and architectures, %zu calls; %zu of those are left out\n", tests,
              counts.rows, counts.places, counts.calls, counts.left_out.size());
  for (const std::string& place : counts.left_out) EXPECT_TRUE(expected.contains(place)) << "left out: " << place;
  for (const std::string& place : expected) EXPECT_TRUE(counts.left_out.contains(place)) << "not left out: " << place;
  EXPECT_EQ(inexpressible, (std::map<std::string, std::string>{}));
  EXPECT_EQ(tests, 43U);
  EXPECT_EQ(counts.rows, 516U);
}

}  // namespace
}  // namespace seccompress::test
