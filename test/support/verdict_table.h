// SPDX-License-Identifier: Apache-2.0
// A .verdicts file: calls and the verdicts they must have, written once and run by every executor. The format is
// in profiles/README.md.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline.h"

namespace seccompress::test {

struct VerdictRow {
  int line = 0;
  std::string text;
  abi::SeccompData call{};      // named arguments filled in
  std::array<bool, 6> given{};  // the others may hold anything
  abi::Verdict expected = abi::kKillProcess;
};

struct VerdictTable {
  std::vector<std::string> layers;  // oldest first, relative to the table's folder
  read::Options options;
  std::vector<VerdictRow> rows;
};

// Errors name file and line.
Result<VerdictTable> parse_verdicts(std::string_view text, const std::string& name);

// A table's layers, compiled.
struct Subject {
  Stack stack;
  std::optional<Flat> flat;
};
Result<Subject> compile_subject(const VerdictTable& table, const std::string& folder, Diagnostics& diagnostics);

// One way to answer calls. nullopt for a call that it cannot make.
struct Executor {
  std::string_view name;
  Result<std::vector<std::optional<abi::Verdict>>> (*answer)(Subject& subject, std::span<const abi::SeccompData> calls);
};
std::span<const Executor> executors();  // to add one: one line in verdict_table.cc

struct TableReport {
  std::size_t answered = 0, impossible = 0;
  std::vector<std::string> failures;
};
TableReport run_table(const VerdictTable& table, Subject& subject, const Executor& executor);

}  // namespace seccompress::test
