// SPDX-License-Identifier: Apache-2.0
// explain: one call -> its verdict, the layer, rule and line that gave it, and every other layer's opinion. Arguments
// that were not given are not taken for 0: when the verdict depends on them, a table says which values give which.
#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "abi/call.h"
#include "abi/syscalls.h"
#include "call_arguments.h"
#include "command.h"
#include "filter_list.h"
#include "output.h"
#include "session.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;
using Filters = std::vector<explain::Filter>;
constexpr std::size_t kRegionsShown = 24;

struct ExplainOptions {
  std::vector<std::string> layers, call;
  std::string call_arch;
};

// Everything that is printed, as text or as JSON.
struct Answer {
  explain::PartialCall call;
  explain::Regions regions;
  std::vector<explain::Explanation> explanations;  // one a region, at its example
  std::vector<std::vector<abi::Verdict>>
      by_filter;  // what each filter answers, over what is not given; empty: any word
  bool depends() const { return regions.regions.size() > 1 || regions.regions.front().is_computed(); }
};

std::vector<abi::Verdict> verdicts_of(const explain::Regions& regions) {
  std::vector<abi::Verdict> all;
  for (const explain::Region& region : regions.regions)
    for (const abi::Verdict verdict : region.possible)
      if (std::find(all.begin(), all.end(), verdict) == all.end()) all.push_back(verdict);
  return all;
}

// Does some code return a word that it computes from arguments?
bool is_any(const explain::Regions& regions) {
  return std::any_of(regions.regions.begin(), regions.regions.end(),
                     [](const explain::Region& region) { return region.possible.empty(); });
}

// The kernel hands a 32-bit process's arguments over with zeros above.
Result<diagram::Node> as_called(diagram::Store& store, diagram::Node node, abi::Arch arch) {
  for (unsigned i = 0; abi::is_32_bit(abi::facts(arch).audit) && i < 6; ++i)
    node = store.cofactor(node, abi::arg_high(i), UINT32_MAX, 0);
  TRY(store.status());
  return node;
}

Result<Answer> answer(Stack& stack, const Filters& filters, const explain::PartialCall& call, abi::Arch arch) {
  std::vector<diagram::Node> nodes;
  for (const CompiledLayer& layer : stack.layers) nodes.push_back(layer.node);
  TRY_ASSIGN(diagram::Node whole, merge::merge(*stack.store, nodes));
  TRY_ASSIGN(whole, as_called(*stack.store, whole, arch));
  Answer result{call, explain::regions_of(*stack.store, whole, call), {}, {}};
  for (const explain::Region& region : result.regions.regions)
    result.explanations.push_back(explain::explain(filters, region.example));
  for (const explain::Filter& filter : filters) {
    TRY_ASSIGN(const diagram::Node node, as_called(*stack.store, filter.node, arch));
    const explain::Regions regions = explain::regions_of(*stack.store, node, call);
    result.by_filter.push_back(is_any(regions) ? std::vector<abi::Verdict>() : verdicts_of(regions));
  }
  return result;
}

// "mprotect(0, _, 4)"
std::string call_text(const explain::PartialCall& call) {
  abi::SeccompData data{};
  data.arch = call.arch;
  data.nr = static_cast<int>(call.nr);
  std::string text = abi::call_text(data);
  text.pop_back();
  std::size_t given = 6;
  while (given > 0 && !call.values[given - 1]) --given;
  for (std::size_t i = 0; i < given; ++i)
    text += (i > 0 ? ", " : "") + (call.values[i] ? explain::number_text(*call.values[i]) : std::string("_"));
  return text + (given == 0 ? "...)" : ")");
}

Style style_of(abi::Verdict verdict) {
  return abi::action_word(verdict) == abi::kAllow || abi::action_word(verdict) == abi::kLog ? Style::good : Style::bad;
}

std::string joined(const std::vector<std::string>& parts, const char* separator) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : separator) + part;
  return text;
}

std::string verdicts_text(const std::vector<abi::Verdict>& verdicts) {
  if (verdicts.empty()) return "any, computed";
  std::vector<std::string> names;
  for (const abi::Verdict verdict : verdicts) names.push_back(abi::to_string(verdict));
  return joined(names, " or ");
}

std::string decided_by(const Stack& stack, const Filters& filters, const explain::Explanation& explanation,
                       const abi::SeccompData& call) {
  if (!explanation.winner) return "every filter allows it";
  const explain::Filter& filter = filters[*explanation.winner];
  const std::string why = reason(explanation.opinions[*explanation.winner], filter, call, true);
  const bool says_where = filter.policy != nullptr && !filter.policy->source.empty();
  if (!says_where) return filter_label(stack, filter) + ": " + why;
  return stack.layers[filter.layer].filters.size() == 1 ? why : filter.name + ", " + why;
}

// Older filters with the same action as the winner.
std::string tie_text(const Stack& stack, const Filters& filters, const explain::Explanation& explanation) {
  if (!explanation.winner) return "";
  std::vector<std::string> same;
  for (std::size_t i = 0; i < *explanation.winner; ++i)
    if (abi::strictness(explanation.opinions[i].verdict) == abi::strictness(explanation.verdict))
      same.push_back(filter_label(stack, filters[i]) + " (" + abi::to_string(explanation.opinions[i].verdict) + ")");
  if (same.empty()) return "";
  const std::size_t count = same.size();
  same.resize(std::min<std::size_t>(count, 3));
  const std::string more = count > same.size() ? fmt::format(" and {} more", count - same.size()) : "";
  return fmt::format("Just as strict: {}{}; of equally strict answers the newest filter's counts.\n",
                     joined(same, ", "), more);
}

std::string verdict_part(const Stack& stack, const Filters& filters, const Answer& answer) {
  const explain::Region& only = answer.regions.regions.front();
  const explain::Explanation& explanation = answer.explanations.front();
  const std::string by = decided_by(stack, filters, explanation, only.example);
  return fmt::format("{}: {}: {}.\n{}.\n{}", call_text(answer.call),
                     styled(abi::to_string(only.verdict), style_of(only.verdict)), consequence(only.verdict),
                     explanation.winner ? "Decided by " + by : "E" + by.substr(1),
                     tie_text(stack, filters, explanation));
}

std::string when_text(const explain::Region& region) {
  const std::string when = joined(region.when, " and ");
  if (!region.is_computed()) return when.empty() ? "always" : when;
  return (when.empty() ? "" : when + ": ") + "computed from " + joined(region.computed_from, ", ");
}

// The only verdict of a region needs no mention.
std::string example_text(const explain::Region& region) {
  const std::string call = abi::call_text(region.example);
  return region.is_computed() ? call + ": " + abi::to_string(region.verdict) : call;
}

std::string regions_part(const Stack& stack, const Filters& filters, const Answer& answer) {
  const auto& regions = answer.regions.regions;
  std::string text = call_text(answer.call) + ": depends on arguments that were not given.\n";
  Table table(Table::Text::all);
  table.add({"verdict", "when", "for example", "which is decided by"});
  for (std::size_t i = 0; i < std::min(regions.size(), kRegionsShown); ++i) {
    table.add({verdicts_text(regions[i].possible), when_text(regions[i]), example_text(regions[i]),
               decided_by(stack, filters, answer.explanations[i], regions[i].example)});
  }
  text += table.text() + "the last column is about the example alone; a0 is the first argument\n";
  if (!answer.regions.complete)
    text += fmt::format("and more than {} other cases; give arguments to narrow it down\n",
                        explain::kMaxRegions - kRegionsShown);
  else if (regions.size() > kRegionsShown)
    text += counted(regions.size() - kRegionsShown, "more case") + "; give arguments to narrow it down\n";
  return text;
}

bool allows(const std::vector<abi::Verdict>& verdicts) {
  return !verdicts.empty() && std::all_of(verdicts.begin(), verdicts.end(),
                                          [](abi::Verdict v) { return abi::action_word(v) == abi::kAllow; });
}

// One filter's row: what it says; why, when that is one thing.
std::vector<std::string> filter_row(const std::string& label, const Filters& filters, const Answer& answer,
                                    std::size_t i) {
  const explain::Explanation& explanation = answer.explanations.front();
  const auto& verdicts = answer.by_filter[i];
  std::string why = "by arguments";
  if (verdicts.size() == 1)
    why = reason(explanation.opinions[i], filters[i], answer.regions.regions.front().example, false);
  const bool decides = !answer.depends() && explanation.winner == i;
  return {(decides ? "> " : "  ") + label, verdicts_text(verdicts), why};
}

std::string opinions_part(const Stack& stack, const Filters& filters, const Answer& answer) {
  Table table(Table::Text::all);
  table.add({"  layer, oldest first", "says", "because"});
  for (std::size_t i = 0; i < filters.size();) {
    const std::size_t layer = filters[i].layer, count = stack.layers[layer].filters.size();
    if (count == 1) {
      table.add(filter_row(stack.layers[layer].name, filters, answer, i++));
      continue;
    }
    std::size_t silent = 0;
    for (std::size_t k = i; k < i + count; ++k) silent += allows(answer.by_filter[k]) ? 1U : 0U;
    table.add({"  " + stack.layers[layer].name, silent == count ? "ALLOW" : "",
               silent == count ? fmt::format("all of its {} filters allow it", count)
                               : fmt::format("{} of its {} filters allow it", silent, count)});
    for (const std::size_t end = i + count; i < end; ++i)
      if (!allows(answer.by_filter[i])) table.add(filter_row("  " + filters[i].name, filters, answer, i));
  }
  return table.text();
}

Json explanation_json(const Stack& stack, const Filters& filters, const explain::Region& region,
                      const explain::Explanation& explanation) {
  Json json{{"verdict", abi::to_string(region.verdict)}, {"when", region.when}, {"example", to_json(region.example)}};
  if (region.is_computed()) {  // the verdict is the example's
    json["computed_from"] = region.computed_from;
    json["possible"] = Json::array();
    for (const abi::Verdict verdict : region.possible) json["possible"].push_back(abi::to_string(verdict));
  }
  if (!explanation.winner) {
    json["decided_by"] = Json();
    return json;
  }
  const explain::Filter& filter = filters[*explanation.winner];
  Json winner{{"layer", stack.layers[filter.layer].name}, {"filter", filter.name}};
  winner.update(reason_json(explanation.opinions[*explanation.winner], region.example));
  json["decided_by"] = winner;
  return json;
}

Json to_json(const Session& session, const Stack& stack, const Filters& filters, const Answer& answer) {
  Json regions = Json::array(), opinions = Json::array();
  for (std::size_t i = 0; i < answer.explanations.size(); ++i)
    regions.push_back(explanation_json(stack, filters, answer.regions.regions[i], answer.explanations[i]));
  for (std::size_t i = 0; i < filters.size(); ++i) {
    Json verdicts = Json::array();
    for (const abi::Verdict verdict : answer.by_filter[i]) verdicts.push_back(abi::to_string(verdict));
    Json opinion{{"layer", stack.layers[filters[i].layer].name}, {"filter", filters[i].name}, {"verdicts", verdicts}};
    if (verdicts.size() == 1)
      opinion.update(reason_json(answer.explanations.front().opinions[i], answer.regions.regions.front().example));
    opinions.push_back(std::move(opinion));
  }
  return {{"call", call_text(answer.call)},
          {"depends_on_arguments", answer.depends()},
          {"cases", regions},
          {"complete", answer.regions.complete},
          {"opinions", opinions},
          {"diagnostics", session.diagnostics_json()},
          {"host", session.host_json()}};
}

Result<void> explain_call(Session& session, const ExplainOptions& options) {
  TRY(session.prepare());
  TRY_ASSIGN(const abi::Arch arch, parse_call_arch(options.call_arch, session.options().read.arch));
  TRY_ASSIGN(const explain::PartialCall call, parse_call(options.call, arch));
  TRY_ASSIGN(Stack stack, session.compile(options.layers));
  TRY(session.show_diagnostics());
  const Filters filters = filters_of(stack);
  TRY_ASSIGN(const Answer found, answer(stack, filters, call, arch));
  if (session.output().json)
    return print_json(to_json(session, stack, filters, found)) == kOk ? Result<void>() : reported();
  const std::string verdict =
      found.depends() ? regions_part(stack, filters, found) : verdict_part(stack, filters, found);
  const std::string text = session.output().quiet ? verdict : verdict + '\n' + opinions_part(stack, filters, found);
  if (print(text) != kOk) return reported();
  return {};
}

}  // namespace

int run_explain(int argc, char** argv) {
  CommandLine app(
      "What happens to one call under the layers, oldest first, and which layer, rule and line decide that.\n"
      "SYSCALL is a name or a number; an ARG is decimal, 0x..., 0... (octal), negative, or _ for any value.",
      "seccompress explain");
  ExplainOptions explain;
  CompileOptions compile;
  OutputOptions output;
  app.option("LAYER", explain.layers, "[KIND:]LOCATION, oldest first; then -- SYSCALL [ARG...]", {.required = true});
  app.option("--call-arch", explain.call_arch,
             "the architecture that the call comes from: x86_64, i386, x32, ... (default: --arch)");
  add_read_options(app, compile);
  add_output_options(app, output);
  auto call = take_after_dashes(argc, argv);
  if (const auto code = app.parse(argc, argv)) return *code;
  explain.call = std::move(call).value_or(std::vector<std::string>{});

  Session session(compile, output);
  const Result<void> done = explain_call(session, explain);
  return done ? kOk : session.fail(done.error());
}

}  // namespace seccompress::cmd
