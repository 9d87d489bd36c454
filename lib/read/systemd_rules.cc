// SPDX-License-Identifier: Apache-2.0
// What libseccomp 2.5.4 makes of systemd's rules belongs to the filter, so it is written down as rules too:
//   * on 32-bit architectures, x32 included, only low words are compared
//   * a call that 32-bit x86 and others multiplex gets a rule on socketcall or ipc, and one on its own number if any
#include "read/systemd_rules.h"

#include <algorithm>

#include "abi/syscalls.h"
#include "support/check.h"

namespace seccompress::read::systemd {

using abi::Arch;
using abi::Verdict;
using policy::Condition;
using policy::Operator;
using policy::Rule;

namespace {

// libseccomp's arch->size.
bool compares_low_words(Arch arch) {
  return is_one_of(arch, {Arch::x86, Arch::x32, Arch::arm, Arch::mips, Arch::mipsel, Arch::mips64n32, Arch::mipsel64n32,
                          Arch::parisc, Arch::ppc, Arch::s390});
}

}  // namespace

std::vector<Arch> local_arches(Arch native) {
  switch (native) {
    case Arch::x86_64: return {Arch::x86, Arch::x32, Arch::x86_64};
    case Arch::x32: return {Arch::x86, Arch::x86_64, Arch::x32};
    case Arch::aarch64: return {Arch::arm, Arch::aarch64};
    case Arch::s390x: return {Arch::s390, Arch::s390x};
    case Arch::ppc64: return {Arch::ppc, Arch::ppc64le, Arch::ppc64};
    case Arch::ppc64le: return {Arch::ppc, Arch::ppc64, Arch::ppc64le};
    case Arch::mips: return {Arch::mipsel, Arch::mips};
    case Arch::mipsel: return {Arch::mips, Arch::mipsel};
    case Arch::mips64:
      return {Arch::mipsel, Arch::mips, Arch::mipsel64n32, Arch::mips64n32, Arch::mipsel64, Arch::mips64};
    case Arch::mipsel64:
      return {Arch::mips, Arch::mipsel, Arch::mips64n32, Arch::mipsel64n32, Arch::mips64, Arch::mipsel64};
    case Arch::mips64n32:
      return {Arch::mipsel, Arch::mips, Arch::mipsel64, Arch::mips64, Arch::mipsel64n32, Arch::mips64n32};
    case Arch::mipsel64n32:
      return {Arch::mips, Arch::mipsel, Arch::mips64, Arch::mipsel64, Arch::mips64n32, Arch::mipsel64n32};
    case Arch::parisc64: return {Arch::parisc, Arch::parisc64};
    case Arch::x86:
    case Arch::arm:
    case Arch::parisc:
    case Arch::ppc:
    case Arch::s390:
    case Arch::riscv64: return {native};
  }
  return {native};
}

bool is_one_of(Arch arch, std::initializer_list<Arch> list) {
  return std::find(list.begin(), list.end(), arch) != list.end();
}

Condition compare(std::uint8_t index, Operator op, std::uint64_t value) {
  return {.index = index, .op = op, .value = value, .value_two = 0, .where = {}};
}
Condition has_bits(std::uint8_t index, std::uint64_t mask) {
  return {.index = index, .op = Operator::masked_eq, .value = mask, .value_two = mask, .where = {}};
}

Filter::Filter(std::string_view directive, Arch arch, Verdict default_verdict, const std::string& source)
    : arch_(arch) {
  filter_.name = std::string(directive) + "= (" + std::string(abi::arch_name(arch)) + ')';
  filter_.policy.source = source;
  filter_.policy.default_verdict = default_verdict;
  filter_.policy.bad_arch_verdict = abi::kAllow;
  filter_.policy.architectures = {arch};
}

void Filter::add(Verdict verdict, std::string_view name, std::vector<Condition> conditions, const Location& where) {
  for (Condition& condition : conditions) {
    condition.low_word = compares_low_words(arch_);
    condition.where = where;
  }
  const auto through = abi::multiplexed_call(arch_, name);
  if (through && conditions.empty()) return add_multiplexed(verdict, name, *through, where);
  CHECK(!through);
  Rule& rule = conditions.empty() ? rule_for(verdict, where) : new_rule(verdict, where);
  rule.all_of = std::move(conditions);
  rule.names.emplace_back(name);
}

void Filter::add_multiplexed(Verdict verdict, std::string_view name, const abi::MultiplexedCall& through,
                             const Location& where) {
  if (const auto direct = abi::syscall_number(arch_, name)) new_rule(verdict, where).numbers = {*direct};
  Rule& rule = new_rule(verdict, where);
  rule.names = {std::string(abi::syscall_name(abi::facts(arch_).audit, through.number))};  // itself not multiplexed
  rule.all_of = {compare(0, Operator::eq, through.call)};
  rule.all_of[0].low_word = compares_low_words(arch_);
  rule.all_of[0].where = where;
}

Rule& Filter::new_rule(Verdict verdict, const Location& where) {
  Rule rule;
  rule.verdict = verdict;
  rule.where = where;
  filter_.policy.rules.push_back(std::move(rule));
  return filter_.policy.rules.back();
}

// Names of one word of the unit (a group) share a rule.
Rule& Filter::rule_for(Verdict verdict, const Location& where) {
  if (!filter_.policy.rules.empty()) {
    Rule& last = filter_.policy.rules.back();
    if (last.verdict == verdict && last.all_of.empty() && last.numbers.empty() && last.where.line == where.line &&
        last.where.column == where.column && last.where.file == where.file)
      return last;
  }
  return new_rule(verdict, where);
}

}  // namespace seccompress::read::systemd
