// SPDX-License-Identifier: Apache-2.0
#include "support/policy_inputs.h"

#include <algorithm>
#include <array>

#include "abi/multiplex.h"
#include "abi/syscalls.h"
#include "lower/lower.h"
#include "policy/evaluate.h"
#include "policy/print.h"
#include "program/program.h"

namespace seccompress::test {
namespace {

using policy::Policy;
using Values = std::array<std::vector<std::uint64_t>, 6>;

constexpr std::array<std::uint32_t, 12> kBorders = {0x3fffffff, 0x40000000, 0x400003ff, 0x7ffffffe,
                                                    0x7fffffff, 0x80000000, 0x80000001, 0xbfffffff,
                                                    0xc0000000, 0xfffffffe, 0xffffffff, 0xffffff97};

void unite(std::vector<Number>& numbers) {
  const auto key = [](const Number& n) { return std::uint64_t{n.audit} << 32 | n.nr; };
  std::sort(numbers.begin(), numbers.end(), [&](const Number& a, const Number& b) { return key(a) < key(b); });
  numbers.erase(
      std::unique(numbers.begin(), numbers.end(), [&](const Number& a, const Number& b) { return key(a) == key(b); }),
      numbers.end());
}

void add_values(Values& values, const policy::Rule& rule) {
  for (const policy::Condition& condition : rule.all_of)
    for (const std::uint64_t value : policy::interesting_values(condition)) values[condition.index].push_back(value);
}

// The values of each argument that some rule compares it with, for the rules that are about this number.
Values values_of(const Policy& policy, Number number) {
  Values values;
  for (const abi::Arch arch : policy.architectures) {
    if (abi::facts(arch).audit != number.audit) continue;
    for (const policy::Rule& rule : policy.rules) {
      if (std::count(rule.numbers.begin(), rule.numbers.end(), number.nr) > 0) add_values(values, rule);
      for (const std::string& name : rule.names) {
        const auto through = abi::multiplexed_call(arch, name);
        const bool multiplexed = through && through->number == number.nr;
        if (!multiplexed && abi::syscall_number(arch, name) != number.nr) continue;
        if (multiplexed) values[0].insert(values[0].end(), {through->call, through->call | std::uint64_t{1} << 32});
        add_values(values, rule);
      }
    }
  }
  for (std::vector<std::uint64_t>& one : values) {
    std::sort(one.begin(), one.end());
    one.erase(std::unique(one.begin(), one.end()), one.end());
  }
  return values;
}

abi::SeccompData noise(Number number, Random& random) {
  abi::SeccompData data{};
  data.nr = static_cast<int>(number.nr);
  data.arch = number.audit;
  data.instruction_pointer = random();
  for (auto& argument : data.args) argument = random() >> (random() % 64);
  return data;
}

}  // namespace

std::vector<Number> named_numbers(const Policy& policy) {
  std::vector<Number> numbers;
  for (const abi::Arch arch : policy.architectures)
    for (const policy::Rule& rule : policy.rules) {
      for (const std::uint32_t nr : rule.numbers) numbers.push_back({abi::facts(arch).audit, nr});
      for (const std::string& name : rule.names) {
        if (const auto nr = abi::syscall_number(arch, name)) numbers.push_back({abi::facts(arch).audit, *nr});
        if (const auto one = abi::multiplexed_call(arch, name))
          numbers.push_back({abi::facts(arch).audit, one->number});
      }
    }
  unite(numbers);
  return numbers;
}

std::vector<Number> numbers_of(const Policy& policy) {
  std::vector<Number> numbers = named_numbers(policy);
  std::vector<std::uint32_t> audits = {abi::facts(abi::Arch::riscv64).audit, 0, UINT32_MAX};
  for (const abi::Arch arch : policy.architectures) audits.push_back(abi::facts(arch).audit);
  for (const std::uint32_t audit : audits) {
    for (std::uint32_t nr = 0; nr < 512; ++nr) {
      numbers.push_back({audit, nr});
      numbers.push_back({audit, nr | abi::kX32Bit});
    }
    for (const std::uint32_t nr : kBorders) numbers.push_back({audit, nr});
    for (const Policy::EnosysAbove& limit : policy.enosys_above)
      for (const std::uint32_t nr : {limit.last, limit.last + 1, limit.last | abi::kX32Bit})
        numbers.push_back({audit, nr});
  }
  unite(numbers);
  return numbers;
}

std::vector<abi::SeccompData> calls_of(const Policy& policy, Number number, std::size_t limit, Random& random) {
  const Values values = values_of(policy, number);
  std::size_t combinations = 1;
  for (const auto& one : values)
    if (!one.empty() && combinations <= limit) combinations *= one.size();
  const bool all = combinations <= limit;
  std::vector<abi::SeccompData> calls;
  for (std::size_t i = 0; i < std::min(combinations, limit); ++i) {
    abi::SeccompData data = noise(number, random);
    std::size_t rest = i;
    for (std::size_t argument = 0; argument < 6; ++argument) {
      const auto& choices = values[argument];
      if (choices.empty()) continue;
      data.args[argument] = choices[(all ? rest : random()) % choices.size()];
      rest /= choices.size();
    }
    calls.push_back(data);
  }
  return calls;
}

Agreement compare_lowering(const Policy& policy, const std::vector<Number>& numbers, std::size_t limit,
                           Random& random) {
  diagram::Store store;
  const auto node = lower::lower(policy, store);
  if (!node) return {0, "lower: " + node.error().what};
  const program::Code reference = lower::reference_program(policy);
  Agreement agreement;
  for (const Number& number : numbers)
    for (const abi::SeccompData& call : calls_of(policy, number, limit, random)) {
      ++agreement.calls;
      const abi::Verdict wanted = policy::evaluate(policy, call);
      const abi::Verdict lowered = store.evaluate(*node, call);
      const abi::Verdict interpreted = program::interpret(reference, call);
      if (abi::normalize(wanted) == lowered && wanted == interpreted) continue;
      std::string text = policy.source + ": " + abi::audit_name(call.arch) + ' ' +
                         abi::syscall_label(call.arch, static_cast<std::uint32_t>(call.nr)) + '(';
      for (const auto argument : call.args) text += std::to_string(argument) + ' ';
      text += "): rules " + abi::to_string(wanted) + ", diagram " + abi::to_string(lowered) + ", reference " +
              abi::to_string(interpreted) + '\n' + policy::to_string(policy).substr(0, 4000);
      agreement.disagreement = std::move(text);
      return agreement;
    }
  return agreement;
}

}  // namespace seccompress::test
