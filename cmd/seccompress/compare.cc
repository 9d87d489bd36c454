// SPDX-License-Identifier: Apache-2.0
// compare: two stacks -> their order, with one concrete call for each direction that fails.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "abi/call.h"
#include "command.h"
#include "output.h"
#include "session.h"
#include "support/check.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;

struct CompareOptions {
  std::vector<std::string> left, right;
  bool ignore_data = false;
};

// A witness with both sides' verdicts, taken from the programs and not from the diagrams that found it.
struct Witness {
  std::string_view claim;
  abi::SeccompData data;
  abi::Verdict left, right;
};

struct Answer {
  merge::Order order;
  std::vector<Witness> witnesses;
};

Result<Answer> compare_layers(Stack& stack, std::size_t left_layers, const PipelineOptions& options) {
  const auto middle = stack.layers.begin() + static_cast<std::ptrdiff_t>(left_layers);
  std::vector<program::Code> left, right;
  for (auto layer = stack.layers.begin(); layer != stack.layers.end(); ++layer) {
    auto& programs = layer < middle ? left : right;
    programs.insert(programs.end(), layer->filters.begin(), layer->filters.end());
  }
  TRY_ASSIGN(const merge::Comparison found, seccompress::compare(stack, left_layers, options));
  Answer answer{found.order, {}};
  const auto add = [&](std::string_view claim, const std::optional<abi::SeccompData>& data) {
    if (!data) return;
    const Witness witness{claim, *data, program::interpret_stack(left, *data), program::interpret_stack(right, *data)};
    CHECK(abi::normalize(witness.left) != abi::normalize(witness.right));
    answer.witnesses.push_back(witness);
  };
  add("left stricter", found.left_stricter);
  add("left looser", found.left_looser);
  add("other data", found.data);
  return answer;
}

std::string_view explanation(merge::Order order) {
  switch (order) {
    case merge::Order::equal: return "the same verdict for every call";
    case merge::Order::equal_actions: return "the same action for every call, but other data (errno) for some";
    case merge::Order::stricter: return "the left allows nothing that the right refuses, and refuses more";
    case merge::Order::looser: return "the left refuses nothing that the right allows, and allows more";
    case merge::Order::incomparable: return "each refuses something that the other allows";
  }
  return "";
}

std::string to_text(const Answer& answer, bool same) {
  std::string text = styled(merge::to_string(answer.order), same ? Style::good : Style::bad) + ": " +
                     std::string(explanation(answer.order)) + '\n';
  for (const Witness& w : answer.witnesses)
    text += fmt::format("  {}: {}: left {}, right {}\n", w.claim, abi::call_text(w.data), abi::to_string(w.left),
                        abi::to_string(w.right));
  return text;
}

Json to_json(const Witness& w) {
  return {{"claim", std::string(w.claim)},
          {"call", abi::call_text(w.data)},
          {"arch", w.data.arch},
          {"nr", static_cast<std::uint32_t>(w.data.nr)},
          {"args", w.data.args},
          {"instruction_pointer", w.data.instruction_pointer},
          {"left", abi::to_string(w.left)},
          {"right", abi::to_string(w.right)}};
}

Json to_json(const Session& session, const Stack& stack, const Answer& answer) {
  Json witnesses = Json::array();
  for (const Witness& w : answer.witnesses) witnesses.push_back(to_json(w));
  return {{"order", std::string(merge::to_string(answer.order))},
          {"witnesses", witnesses},
          {"diagnostics", session.diagnostics_json()},
          {"timings_us", cmd::to_json(stack.timings)},
          {"host", session.host_json()}};
}

Result<int> compare_stacks(Session& session, const CompareOptions& options) {
  TRY(session.prepare());
  std::vector<std::string> layers = options.left;
  layers.insert(layers.end(), options.right.begin(), options.right.end());
  TRY_ASSIGN(Stack stack, session.compile(layers));
  TRY(session.show_diagnostics());
  TRY_ASSIGN(const Answer answer, compare_layers(stack, options.left.size(), session.options()));
  const bool same =
      answer.order == merge::Order::equal || (options.ignore_data && answer.order == merge::Order::equal_actions);
  if (session.wants_timings() && !session.output().json) std::fputs(timings_text(stack.timings).c_str(), stderr);
  const int printed = session.output().json    ? print_json(to_json(session, stack, answer))
                      : session.output().quiet ? kOk
                                               : print(to_text(answer, same));
  if (printed != kOk) return reported();
  return same ? kOk : kNo;
}

}  // namespace

int run_compare(int argc, char** argv) {
  CommandLine app(
      "How two stacks of layers, each oldest first, stand to each other. Exit code 0: equal, 1: not, 2: error.",
      "seccompress compare");
  CompareOptions compare;
  CompileOptions compile;
  OutputOptions output;
  app.option("--left", compare.left, "[KIND:]LOCATION, oldest first", {.required = true});
  app.option("--right", compare.right, "[KIND:]LOCATION, oldest first", {.required = true});
  app.flag("--ignore-data", compare.ignore_data, "actions alone decide; errno and the like may differ");
  add_read_options(app, compile);
  add_output_options(app, output);
  if (const auto code = app.parse(argc, argv)) return *code;

  Session session(compile, output);
  const Result<int> code = compare_stacks(session, compare);
  return code ? *code : session.fail(code.error());
}

}  // namespace seccompress::cmd
