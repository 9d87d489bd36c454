// SPDX-License-Identifier: Apache-2.0
// One of systemd's filters while its rules are added: what seccomp_init_for_arch() and seccomp_rule_add_exact() make.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "abi/multiplex.h"
#include "read/reader.h"

namespace seccompress::read::systemd {

// seccomp_local_archs: those that systemd makes filters for, in its order, the machine's own last.
std::vector<abi::Arch> local_arches(abi::Arch native);
bool is_one_of(abi::Arch arch, std::initializer_list<abi::Arch> list);

policy::Condition compare(std::uint8_t index, policy::Operator op, std::uint64_t value);
policy::Condition has_bits(std::uint8_t index, std::uint64_t mask);  // all of them

// A filter for one architecture that allows everything on the others.
class Filter {
 public:
  Filter(std::string_view directive, abi::Arch arch, abi::Verdict default_verdict, const std::string& source);

  // A name that the architecture lacks has no effect. Multiplexed calls take no conditions.
  void add(abi::Verdict verdict, std::string_view name, std::vector<policy::Condition> conditions,
           const Location& where);

  void set_default_where(const Location& where) { filter_.policy.default_where = where; }

  NamedPolicy take() { return std::move(filter_); }

 private:
  void add_multiplexed(abi::Verdict verdict, std::string_view name, const abi::MultiplexedCall& through,
                       const Location& where);
  policy::Rule& new_rule(abi::Verdict verdict, const Location& where);
  policy::Rule& rule_for(abi::Verdict verdict, const Location& where);

  abi::Arch arch_;
  NamedPolicy filter_;
};

}  // namespace seccompress::read::systemd
