// SPDX-License-Identifier: Apache-2.0
// inspect: what a stack is made of, what each part of it is good for, and what flattening it changes.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "abi/call.h"
#include "abi/syscalls.h"
#include "command.h"
#include "inspection.h"
#include "output.h"
#include "session.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;
constexpr std::size_t kNamesShown = 6, kCallsShown = 8;

struct InspectOptions {
  std::vector<std::string> layers;
  bool all = false;
};

std::string list_text(const std::vector<std::string>& names, std::size_t limit) {
  std::string text;
  const std::size_t shown = names.size() <= limit + 1 ? names.size() : limit;
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + names[i];
  return shown < names.size() ? text + fmt::format(" and {} more", names.size() - shown) : text;
}

// "personality (args)"; numbers without a name are only counted.
std::string space_text(const explain::NumberSpace& space, const std::vector<explain::ChangedCall>& calls,
                       std::size_t limit) {
  std::vector<std::string> names;
  std::size_t unnamed = 0;
  for (const explain::ChangedCall& call : calls) {
    const std::string_view name = abi::syscall_name(space.audit, call.nr);
    if (name.empty())
      ++unnamed;
    else
      names.push_back(std::string(name) + (call.computed ? " (computed)" : call.for_some_arguments ? " (args)" : ""));
  }
  if (unnamed > 0) names.push_back(counted(unnamed, "number") + " without a name");
  return list_text(names, limit);
}

std::string space_name(const explain::NumberSpace& space) {
  return space.first == abi::kX32Bit ? "x32" : abi::audit_name(space.audit);
}

std::string changes_text(const explain::Changes& changes, std::size_t limit) {
  const std::vector<explain::NumberSpace> spaces = explain::number_spaces();
  std::vector<std::string> parts, whole;
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    if (changes.calls[i].empty()) continue;
    const bool every = changes.calls[i].size() == spaces[i].count &&
                       std::none_of(changes.calls[i].begin(), changes.calls[i].end(),
                                    [](const auto& c) { return c.for_some_arguments || c.computed; });
    if (every)
      whole.push_back("every " + space_name(spaces[i]) + " call");
    else if (i == 0)
      parts.push_back(space_text(spaces[i], changes.calls[i], limit));
    else
      parts.push_back(space_name(spaces[i]) + ": " +
                      space_text(spaces[i], changes.calls[i], limit == kNamesShown ? 2 : limit));
  }
  std::string text = list_text(whole, limit);
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  if (!text.empty() || !changes.elsewhere) return text;
  return "only calls that no program makes, such as " + abi::call_text(*changes.elsewhere);
}

std::string share_text(const Share& share, const std::vector<std::string>& labels, std::size_t limit) {
  if (share.undecided) return "not decided; perhaps " + changes_text(share.alone, limit);
  if (share.redundant && share.duplicate_of) return "nothing: the same as " + labels[*share.duplicate_of];
  if (share.redundant) return "nothing: what it refuses, another filter refuses too";
  if (!share.implied) return changes_text(share.alone, limit);
  if (share.duplicate_of)
    return "nothing alone: the same as " + labels[*share.duplicate_of] + "; with it " + changes_text(share.kept, limit);
  return "with redundant ones: " + changes_text(share.kept, limit);
}

std::size_t instructions_of(const std::vector<program::Code>& codes) {
  std::size_t sum = 0;
  for (const program::Code& code : codes) sum += code.size();
  return sum;
}

struct Labels {
  std::vector<std::string> layers, filters;
};
Labels labels_of(const Stack& stack, const Inspection& found) {
  Labels labels;
  for (const CompiledLayer& layer : stack.layers) labels.layers.push_back(layer.name);
  for (const explain::Filter& filter : found.filters)
    labels.filters.push_back(stack.layers[filter.layer].filters.size() == 1 ? stack.layers[filter.layer].name
                                                                            : filter.name);
  return labels;
}

std::vector<std::string> size_row(const std::string& name, std::size_t filters, std::size_t instructions, bool policy,
                                  const std::string& text) {
  const std::string mark = policy ? "~" : "";
  return {name, filters == 0 ? "" : grouped(filters), mark + grouped(instructions),
          mark + grouped(instructions * sizeof(program::Instruction)), text};
}

// The filters of a layer of several: one line for each that adds something, one for the rest together.
void add_filter_rows(Table& table, const Inspection& found, const Labels& labels, std::size_t first, std::size_t count,
                     const InspectOptions& options) {
  std::size_t quiet = 0, quiet_instructions = 0, duplicates = 0;
  for (std::size_t i = first; i < first + count; ++i) {
    const Share& share = found.filter_shares[i];
    if (share.redundant && !options.all) {
      ++quiet;
      quiet_instructions += found.instructions[i];
      if (share.duplicate_of) ++duplicates;
      continue;
    }
    table.add(size_row("  " + found.filters[i].name, 0, found.instructions[i], found.filters[i].policy != nullptr,
                       share_text(share, labels.filters, options.all ? SIZE_MAX - 1 : kNamesShown)));
  }
  if (quiet == 0) return;
  const std::string copies = duplicates == 0 ? "" : fmt::format(" ({} of them copies of another)", duplicates);
  table.add(size_row("  " + counted(quiet, quiet == count ? "filter" : "other"), 0, quiet_instructions,
                     found.filters[first].policy != nullptr,
                     "nothing: what it refuses, another filter refuses too" + copies));
}

std::string layers_part(const Stack& stack, const Inspection& found, const InspectOptions& options) {
  const Labels labels = labels_of(stack, found);
  Table table(true);
  table.add({"layer, oldest first", "filters", "instructions", "bytes", "calls that it alone decides"});
  std::size_t first = 0;
  for (std::size_t l = 0; l < stack.layers.size(); ++l) {
    const std::size_t count = stack.layers[l].filters.size();
    std::size_t instructions = 0;
    bool policy = false;
    for (std::size_t i = first; i < first + count; ++i) {
      instructions += found.instructions[i];
      policy = policy || found.filters[i].policy != nullptr;
    }
    table.add(size_row(labels.layers[l], count, instructions, policy,
                       share_text(found.layer_shares[l], labels.layers, options.all ? SIZE_MAX - 1 : kNamesShown)));
    if (count > 1) add_filter_rows(table, found, labels, first, count, options);
    first += count;
  }
  const std::size_t programs = found.after.size();
  table.add(size_row(programs == 1 ? "= one program" : fmt::format("= {} programs", programs), programs,
                     instructions_of(found.after), false, "proved equal to the layers"));
  std::string text = table.text();
  if (programs > 1) text += "Not one program: " + found.why_several + ".\n";
  text += "(args): for some arguments only\n";
  if (found.has_code)
    text += "(computed): code that compares or computes decides; perhaps for some arguments only, perhaps for none\n";
  if (found.policies > 0)
    text += "~ a policy becomes a filter only in its runtime; counted as what flatten makes of it alone\n";
  return text;
}

std::string cost_cell(const explain::CallCost& cost) {
  return cost.cached ? "cache" : grouped(cost.run.executed_converted);
}

std::string mean_text(double mean) { return fmt::format("{:.1f}", mean); }

std::string cost_part(const Inspection& found) {
  Table table(true);
  table.add({"executed instructions", "now", "flat", ""});  // the heaviest calls that run the filters now
  std::size_t shown = 0;
  for (const explain::TypicalCall& call : found.calls) {
    const explain::CallCost now = explain::cost_of(found.before, call.data);
    if (now.cached || shown == kCallsShown) continue;
    ++shown;
    table.add({"  " + call.name, cost_cell(now), cost_cell(explain::cost_of(found.after, call.data)),
               abi::to_string(program::interpret_stack(found.after, call.data))});
  }
  table.add({"mean of all calls by weight", mean_text(found.cost_before.with_cache),
             mean_text(found.cost_after.with_cache), "those in the cache cost 0"});
  table.add({"mean without the cache", mean_text(found.cost_before.without_cache),
             mean_text(found.cost_after.without_cache), ""});
  for (std::size_t i = 0; i < found.cache_before.size(); ++i)
    table.add({(found.cache_before[i].name == "ia32" ? "i386" : found.cache_before[i].name) + " calls in the cache",
               grouped(found.cache_before[i].count()), grouped(found.cache_after[i].count()),
               "of " + grouped(found.cache_before[i].allowed.size())});
  const char* note = found.cache_before.empty()
                         ? "this kernel has no cache of always-allowed calls (Linux 5.11 and later)\n"
                         : "in the cache: always allowed, so the kernel (5.11 and later) runs no filter\n";
  return table.text() + note;
}

constexpr char kNoFilters[] =
    "No seccomp filters: every call is allowed, and there is nothing to flatten. A systemd service's are read with "
    "unit:NAME, a running process's with pid:PID.\n";

// A policy has no filter of its own: its size is that of the program that flatten makes of it.
bool is_estimate(const Inspection& found) {
  return std::any_of(found.filters.begin(), found.filters.end(),
                     [](const auto& filter) { return filter.policy != nullptr; });
}

// For someone who reads nothing else.
std::string summary(const Inspection& found, bool cache_model) {
  if (found.filters.empty()) return kNoFilters;
  const char* about = is_estimate(found) ? "~" : "";
  const double before = cache_model ? found.cost_before.with_cache : found.cost_before.without_cache;
  const double after = cache_model ? found.cost_after.with_cache : found.cost_after.without_cache;
  const std::size_t redundant = found.redundant_filters();
  std::string text =
      fmt::format("{} ({}{}) can become {} of {} with the same verdict for every call",
                  counted(found.filters.size(), "filter"), about, counted(instructions_of(found.before), "instruction"),
                  found.after.size() == 1 ? "one program" : counted(found.after.size(), "program"),
                  counted(instructions_of(found.after), "instruction"));
  if (redundant > 0)
    text +=
        fmt::format("; {} of the filters {} no effect beside the others", redundant, redundant == 1 ? "has" : "have");
  if (before >= 0.1 && before >= 1.05 * after)
    text += fmt::format(". A system call then costs {} executed filter instructions on average instead of {}{}",
                        mean_text(after), about, mean_text(before));
  return text + ".\n";
}

Json to_json(const explain::Changes& changes) {
  const std::vector<explain::NumberSpace> spaces = explain::number_spaces();
  Json json = Json::object();
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    Json calls = Json::array();
    for (const explain::ChangedCall& call :
         changes.calls.empty() ? std::vector<explain::ChangedCall>{} : changes.calls[i])
      calls.push_back({{"call", abi::syscall_label(spaces[i].audit, call.nr)},
                       {"nr", call.nr},
                       {"some_arguments", call.for_some_arguments},
                       {"computed", call.computed}});
    json[space_name(spaces[i])] = calls;
  }
  json["elsewhere"] = changes.elsewhere ? cmd::to_json(*changes.elsewhere) : Json();
  return json;
}

Json to_json(const Share& share, const std::vector<std::string>& labels) {
  return {{"implied", share.undecided ? Json() : Json(share.implied)},
          {"redundant", share.undecided ? Json() : Json(share.redundant)},
          {"duplicate_of", share.duplicate_of ? Json(labels[*share.duplicate_of]) : Json()},
          {"alone", to_json(share.alone)},
          {"beside_the_kept_ones", to_json(share.kept)}};
}

Json to_json(const std::vector<program::CachedArch>& arches) {
  Json json = Json::object();
  for (const program::CachedArch& arch : arches)
    json[arch.name] = {{"cached", arch.count()}, {"numbers", arch.allowed.size()}};
  return json;
}

Json to_json(const explain::MeanCost& cost) {
  const auto thousandths = [](double value) { return std::round(value * 1000) / 1000; };
  return {{"with_cache", thousandths(cost.with_cache)},
          {"without_cache", thousandths(cost.without_cache)},
          {"running_share", thousandths(cost.running_share)}};
}

Json layers_json(const Stack& stack, const Inspection& found) {
  const Labels labels = labels_of(stack, found);
  Json layers = Json::array();
  std::size_t next = 0;
  for (std::size_t l = 0; l < stack.layers.size(); ++l) {
    Json filters = Json::array();
    std::size_t size = 0;
    for (std::size_t k = 0; k < stack.layers[l].filters.size(); ++k, ++next) {
      Json filter{{"name", found.filters[next].name},
                  {"instructions", found.instructions[next]},
                  {"policy", found.filters[next].policy != nullptr}};
      filter.update(to_json(found.filter_shares[next], labels.filters));
      filters.push_back(std::move(filter));
      size += found.instructions[next];
    }
    Json layer{{"name", labels.layers[l]}, {"kind", stack.layers[l].kind}, {"instructions", size}};
    layer.update(to_json(found.layer_shares[l], labels.layers));
    layer["filters"] = std::move(filters);
    layers.push_back(std::move(layer));
  }
  return layers;
}

Json calls_json(const Inspection& found) {
  Json calls = Json::array();
  for (const explain::TypicalCall& call : found.calls) {
    const explain::CallCost was = explain::cost_of(found.before, call.data),
                            is = explain::cost_of(found.after, call.data);
    calls.push_back({{"name", call.name},
                     {"weight", std::round(call.weight * 1000) / 1000},
                     {"call", abi::call_text(call.data)},
                     {"before", was.run.executed_converted},
                     {"before_cached", was.cached},
                     {"after", is.run.executed_converted},
                     {"after_cached", is.cached}});
  }
  return calls;
}

Json to_json(const Session& session, const Stack& stack, const Inspection& found) {
  const auto side = [](std::size_t filters, std::size_t size, const explain::MeanCost& cost,
                       const std::vector<program::CachedArch>& cache) {
    return Json{{"filters", filters}, {"instructions", size}, {"cost", to_json(cost)}, {"cache", to_json(cache)}};
  };
  return {{"summary", summary(found, session.options().emit.cache_model)},
          {"layers", layers_json(stack, found)},
          {"before", side(found.before.size(), instructions_of(found.before), found.cost_before, found.cache_before)},
          {"after", side(found.after.size(), instructions_of(found.after), found.cost_after, found.cache_after)},
          {"why_several", found.why_several.empty() ? Json() : Json(found.why_several)},
          {"calls", calls_json(found)},
          {"diagnostics", session.diagnostics_json()},
          {"timings_us", cmd::to_json(stack.timings)},
          {"host", session.host_json()}};
}

Result<void> inspect_layers(Session& session, const InspectOptions& options) {
  TRY(session.prepare());
  TRY_ASSIGN(Stack stack, session.compile(options.layers));
  TRY(session.show_diagnostics());
  TRY_ASSIGN(const Inspection found, inspect_stack(stack, session.options()));
  if (session.wants_timings() && !session.output().json) std::fputs(timings_text(stack.timings).c_str(), stderr);
  if (session.output().json) return print_json(to_json(session, stack, found)) == kOk ? Result<void>() : reported();
  const std::string sentence = summary(found, session.options().emit.cache_model);
  const std::string text = session.output().quiet || found.filters.empty()
                               ? sentence
                               : sentence + '\n' + layers_part(stack, found, options) + '\n' + cost_part(found);
  if (print(text) != kOk) return reported();
  return {};
}

}  // namespace

int run_inspect(int argc, char** argv) {
  CommandLine app(
      "What a stack of layers, oldest first, is made of: sizes, which calls each filter alone decides, which add\n"
      "nothing, and what system calls cost now and when the stack is flattened.",
      "seccompress inspect");
  InspectOptions inspect;
  CompileOptions compile;
  OutputOptions output;
  app.option("LAYER", inspect.layers, "[KIND:]LOCATION, oldest first", {.required = true});
  app.flag("--all", inspect.all, "every filter and every call, not only the first few");
  add_read_options(app, compile);
  add_emit_options(app, compile);
  add_output_options(app, output);
  if (const auto code = app.parse(argc, argv)) return *code;

  Session session(compile, output);
  const Result<void> done = inspect_layers(session, inspect);
  return done ? kOk : session.fail(done.error());
}

}  // namespace seccompress::cmd
