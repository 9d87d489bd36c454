// SPDX-License-Identifier: Apache-2.0
#include "support/verdict_table.h"

#include <sstream>

#include "abi/syscalls.h"
#include "policy/evaluate.h"
#include "support/kernel_executor.h"
#include "support/policy_text.h"

namespace seccompress::test {
namespace {

using Answers = std::vector<std::optional<abi::Verdict>>;

// ---- Reading ---------------------------------------------------------------------------------------------------

bool parse_call(std::string text, VerdictRow& row) {
  abi::Arch arch = abi::Arch::x86_64;
  if (const auto colon = text.find(':'); colon != std::string::npos) {
    const std::string prefix = text.substr(0, colon);
    const auto named = prefix == "i386" ? abi::Arch::x86 : abi::arch_from_name(prefix);
    if (!named) return false;
    arch = *named;
    text.erase(0, colon + 1);
  }
  row.call.arch = abi::facts(arch).audit;
  const auto number = parse_number(text);
  const auto nr =
      number ? std::optional<std::uint32_t>(static_cast<std::uint32_t>(*number)) : abi::syscall_number(arch, text);
  if (!nr) return false;
  row.call.nr = static_cast<int>(*nr);
  return true;
}

bool parse_row(const std::vector<std::string>& words, VerdictRow& row) {
  if (words.size() < 2 || words.size() > 8 || !parse_call(words[0], row)) return false;
  for (std::size_t i = 1; i + 1 < words.size(); ++i) {
    if (words[i] == "-") continue;
    const auto value = parse_number(words[i]);
    if (!value) return false;
    row.call.args[i - 1] = *value;
    row.given[i - 1] = true;
  }
  const auto verdict = parse_verdict(words.back());
  row.expected = verdict.value_or(0);
  return verdict.has_value();
}

Result<bool> parse_header(VerdictTable& table, const std::vector<std::string>& words) {
  if (words[0] == "layers:") {
    table.layers.assign(words.begin() + 1, words.end());
    return true;
  }
  if (words.size() != 2) return false;
  if (words[0] == "caps:") {
    TRY_ASSIGN(table.options.caps, read::parse_caps(words[1]));
    return true;
  }
  if (words[0] == "kernel:") {
    TRY_ASSIGN(table.options.kernel, read::parse_kernel(words[1]));
    return true;
  }
  return false;
}

// ---- Executors -------------------------------------------------------------------------------------------------

template <class Function>
Result<Answers> each(std::span<const abi::SeccompData> calls, Function&& function) {
  Answers answers;
  for (const abi::SeccompData& call : calls) answers.emplace_back(function(call));
  return answers;
}

// Policies by their rules, filters by the interpreter, stacked as the kernel does.
Result<Answers> answer_by_rules(Subject& subject, std::span<const abi::SeccompData> calls) {
  return each(calls, [&](const abi::SeccompData& call) {
    abi::Verdict verdict = abi::kAllow;
    for (const CompiledLayer& layer : subject.stack.layers)
      if (layer.policy)
        verdict = abi::stack(policy::evaluate(*layer.policy, call), verdict);
      else
        for (const program::Code& filter : layer.filters)
          verdict = abi::stack(program::interpret(filter, call), verdict);
    return verdict;
  });
}

Result<Answers> answer_by_diagram(Subject& subject, std::span<const abi::SeccompData> calls) {
  return each(calls,
              [&](const abi::SeccompData& call) { return subject.stack.store->evaluate(subject.flat->node, call); });
}

Result<Answers> answer_by_stack(Subject& subject, std::span<const abi::SeccompData> calls) {
  const std::vector<program::Code> programs = subject.stack.programs();
  return each(calls, [&](const abi::SeccompData& call) { return program::interpret_stack(programs, call); });
}

Result<Answers> answer_by_flat_program(Subject& subject, std::span<const abi::SeccompData> calls) {
  return each(calls,
              [&](const abi::SeccompData& call) { return program::interpret(subject.flat->program.view(), call); });
}

Result<Answers> answer_by_kernel(Subject& subject, std::span<const abi::SeccompData> calls) {
  return ask_kernel(subject.flat->program.view(), calls);
}

constexpr Executor kExecutors[] = {
    {"rules", answer_by_rules},          {"diagram", answer_by_diagram}, {"stack", answer_by_stack},
    {"program", answer_by_flat_program}, {"kernel", answer_by_kernel},
};

// Arguments that the row leaves open are tried as 0, all ones, and a mixture.
std::vector<abi::SeccompData> variants(const VerdictRow& row) {
  std::vector<abi::SeccompData> calls;
  const bool narrow = row.call.arch == abi::facts(abi::Arch::x86).audit;
  for (const std::uint64_t fill : {std::uint64_t{0}, narrow ? std::uint64_t{UINT32_MAX} : UINT64_MAX,
                                   narrow ? std::uint64_t{0x5a5a5a5a} : std::uint64_t{0x1234567a5a5a5a5a}}) {
    abi::SeccompData call = row.call;
    for (std::size_t i = 0; i < 6; ++i)
      if (!row.given[i]) call.args[i] = narrow && i == 5 ? 0 : fill;
    calls.push_back(call);
  }
  return calls;
}

}  // namespace

Result<VerdictTable> parse_verdicts(std::string_view text, const std::string& name) {
  VerdictTable table;
  table.options = {.arch = abi::Arch::x86_64, .caps = read::docker_default_caps(), .kernel = {6, 1}};
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream split(line.substr(0, line.find('#')));
    std::vector<std::string> words;
    for (std::string word; split >> word;) words.push_back(word);
    if (words.empty()) continue;
    const std::string where = name + ':' + std::to_string(number) + ": ";
    const Result<bool> header = parse_header(table, words);
    if (!header) return failure(header.error().code, where + header.error().what);
    if (*header) continue;
    VerdictRow row{.line = number, .text = line};
    if (!parse_row(words, row)) return failure(Errc::malformed, where + "not a row: " + line);
    table.rows.push_back(std::move(row));
  }
  if (table.layers.empty()) return failure(Errc::malformed, name + ": no layers: line");
  return table;
}

Result<Subject> compile_subject(const VerdictTable& table, const std::string& folder, Diagnostics& diagnostics) {
  PipelineOptions options;
  options.read = table.options;
  Subject subject{make_stack(options), std::nullopt};
  for (const std::string& layer : table.layers) {
    TRY_ASSIGN(read::LayerSpec spec, read::parse_layer_spec(layer));
    if (!spec.location.starts_with('/')) spec.location = folder + '/' + spec.location;
    TRY(add_layer(subject.stack, spec, options, diagnostics));
  }
  TRY_ASSIGN(Flat flat, flatten(subject.stack, options));
  subject.flat = std::move(flat);
  return subject;
}

std::span<const Executor> executors() { return kExecutors; }

TableReport run_table(const VerdictTable& table, Subject& subject, const Executor& executor) {
  std::vector<abi::SeccompData> calls;
  for (const VerdictRow& row : table.rows)
    for (const abi::SeccompData& call : variants(row)) calls.push_back(call);
  TableReport report;
  const auto answers = executor.answer(subject, calls);
  if (!answers) {
    report.failures.push_back(std::string(executor.name) + ": " + to_string(answers.error()));
    return report;
  }
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const VerdictRow& row = table.rows[i / 3];
    if (!(*answers)[i]) {
      ++report.impossible;
      continue;
    }
    ++report.answered;
    const abi::Verdict answer = *(*answers)[i];
    if (abi::normalize(answer) != abi::normalize(row.expected))
      report.failures.push_back("line " + std::to_string(row.line) + ": " + row.text + ": " +
                                std::string(executor.name) + " says " + abi::to_string(answer));
  }
  return report;
}

}  // namespace seccompress::test
