// SPDX-License-Identifier: Apache-2.0
// flatten: LAYER... -> one proved program in a format, and what became of each layer. Where one program cannot hold
// the layers: as few as can, as a folder that `dir:` reads.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "command.h"
#include "exact_stack.h"
#include "filter_folder.h"
#include "output.h"
#include "session.h"
#include "support/build_id.h"
#include "support/file.h"
#include "version.h"
#include "write/formats.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;

struct FlattenOptions {
  std::vector<std::string> layers;
  std::string file, format = "bpf";
  bool wants_report() const { return format == "json"; }
};

// What filters cost the kernel to hold. A policy is not a filter yet: its size depends on who compiles it.
struct Size {
  std::size_t filters = 0, instructions = 0, bytes = 0, converted = 0;
  void add(program::CodeView code) {
    ++filters;
    instructions += code.size();
    bytes += code.size() * sizeof(program::Instruction);
    converted += program::converted_length(code);
  }
  void add(const Size& other) {
    filters += other.filters;
    instructions += other.instructions;
    bytes += other.bytes;
    converted += other.converted;
  }
};

bool is_policy(const CompiledLayer& layer) { return layer.policy || !layer.filter_policies.empty(); }

struct Report {
  std::vector<Size> layers;
  Size before, after;
  std::size_t policies = 0;
  merge::Contribution contribution;         // of the layers
  merge::Contribution filter_contribution;  // of all layers' filters, one list
};

Result<Report> make_report(Stack& stack, const ExactStack& flat, const PipelineOptions& options) {
  Report report;
  for (const CompiledLayer& layer : stack.layers) {
    Size size;
    if (is_policy(layer))
      ++report.policies;
    else
      for (const program::Code& code : layer.filters) size.add(code);
    report.before.add(size);
    report.layers.push_back(size);
  }
  for (const program::VerifiedProgram& program : flat.programs) report.after.add(program.view());
  TRY_ASSIGN(report.contribution, contribution(stack, parts_by_layer(stack), options));
  TRY_ASSIGN(report.filter_contribution, contribution(stack, parts_by_filter(stack), options));
  return report;
}

Json to_json(const Size& size) {
  return {{"filters", size.filters},
          {"instructions", size.instructions},
          {"bytes", size.bytes},
          {"converted", size.converted}};
}

// The layer's first filter in the list of all.
std::size_t first_filter(const Stack& stack, std::size_t layer) {
  std::size_t first = 0;
  for (std::size_t i = 0; i < layer; ++i) first += stack.layers[i].filters.size();
  return first;
}

// "LAYER", or "LAYER/FILTER" for one of several.
std::string filter_label(const Stack& stack, std::size_t index) {
  for (const CompiledLayer& layer : stack.layers) {
    if (index < layer.filters.size())
      return layer.filters.size() == 1 ? layer.name : layer.name + '/' + layer.filter_names[index];
    index -= layer.filters.size();
  }
  return {};
}

Json contribution_json(const merge::Contribution& contribution, std::size_t i, const std::string& twin) {
  const bool known = !contribution.undecided[i];
  return {{"implied", known ? Json(static_cast<bool>(contribution.implied[i])) : Json()},
          {"redundant", known ? Json(static_cast<bool>(contribution.redundant[i])) : Json()},
          {"duplicate_of", contribution.duplicate_of[i] ? Json(twin) : Json()}};
}

Json filters_json(const Stack& stack, const Report& report, std::size_t layer) {
  Json filters = Json::array();
  const std::size_t first = first_filter(stack, layer);
  for (std::size_t k = 0; k < stack.layers[layer].filters.size(); ++k) {
    Json filter{{"name", stack.layers[layer].filter_names[k]}, {"instructions", stack.layers[layer].filters[k].size()}};
    const auto twin = report.filter_contribution.duplicate_of[first + k];
    filter.update(contribution_json(report.filter_contribution, first + k, twin ? filter_label(stack, *twin) : ""));
    filters.push_back(std::move(filter));
  }
  return filters;
}

Json layer_json(const Stack& stack, const Report& report, std::size_t i) {
  const CompiledLayer& layer = stack.layers[i];
  Json json{{"name", layer.name}, {"kind", layer.kind}, {"policy", is_policy(layer)}};
  if (!is_policy(layer)) json.update(to_json(report.layers[i]));
  const auto twin = report.contribution.duplicate_of[i];
  json.update(contribution_json(report.contribution, i, twin ? stack.layers[*twin].name : ""));
  if (!is_policy(layer)) json["each"] = filters_json(stack, report, i);
  return json;
}

Json to_json(const Session& session, const Stack& stack, const ExactStack& flat, const Report& report) {
  Json layers = Json::array();
  for (std::size_t i = 0; i < stack.layers.size(); ++i) layers.push_back(layer_json(stack, report, i));
  Json programs = Json::array();
  for (const program::VerifiedProgram& program : flat.programs)
    programs.push_back(write::to_base64(program::to_bytes(program.view())));
  return {{"version", version()},
          {"build_id", build_id()},
          {"layers", layers},
          {"policies", report.policies},
          {"before", to_json(report.before)},
          {"after", to_json(report.after)},
          {"proved", true},
          {"program", programs.size() == 1 ? programs.front() : Json()},
          {"programs", programs},
          {"why_several", flat.why.empty() ? Json() : Json(flat.why)},
          {"diagnostics", session.diagnostics_json()},
          {"timings_us", cmd::to_json(stack.timings)},
          {"host", session.host_json()}};
}

// "25 of them add nothing (3 duplicates)"
std::string filters_note(const Stack& stack, const Report& report, std::size_t i) {
  std::size_t redundant = 0, duplicates = 0;
  const std::size_t first = first_filter(stack, i), count = stack.layers[i].filters.size();
  for (std::size_t k = first; k < first + count; ++k) {
    if (!report.filter_contribution.redundant[k]) continue;
    ++redundant;
    if (report.filter_contribution.duplicate_of[k]) ++duplicates;
  }
  if (count == 1 || redundant == 0) return "";
  const std::string copies = duplicates == 0 ? "" : fmt::format(" ({})", counted(duplicates, "duplicate"));
  return fmt::format("{} of them add nothing{}", redundant, copies);
}

std::string note(const Stack& stack, const Report& report, std::size_t i) {
  if (const auto twin = report.contribution.duplicate_of[i]) return "duplicate of " + stack.layers[*twin].name;
  if (report.contribution.redundant[i]) return "redundant: the others imply it";
  if (report.contribution.implied[i]) return "implied by the others";
  return filters_note(stack, report, i);
}

std::vector<std::string> row(const std::string& name, const Size& size, const std::string& note) {
  return {name, grouped(size.filters), grouped(size.instructions), grouped(size.bytes), note};
}

// What a policy's filters cost depends on who compiles them.
std::vector<std::string> layer_row(const CompiledLayer& layer, const Size& size, const std::string& note) {
  if (layer.policy) return {layer.name, "policy", "", "", note};
  if (is_policy(layer)) return {layer.name, grouped(layer.filters.size()), "", "", note};
  return row(layer.name, size, note);
}

std::string summary(const Stack& stack, const ExactStack& flat, const Report& report) {
  Table table(true);
  table.add({"layer, oldest first", "filters", "instructions", "bytes", ""});
  for (std::size_t i = 0; i < stack.layers.size(); ++i)
    table.add(layer_row(stack.layers[i], report.layers[i], note(stack, report, i)));
  const std::string name = flat.why.empty() ? "= one program" : fmt::format("= {} programs", flat.programs.size());
  table.add(row(name, report.after, "proved equal to the layers"));
  return table.text() + (flat.why.empty() ? "" : "Not one program: " + flat.why + ".\n");
}

Result<void> save(const FlattenOptions& options, const std::string& bytes, bool binary) {
  if (!options.file.empty()) return write_file_atomically(options.file, bytes);
  if (binary && stdout_is_terminal())
    return failure(Errc::refused, "binary output to a terminal; use -o FILE, or -f asm to read it");
  if (print(bytes) != kOk) return reported();
  return {};
}

Result<void> save_folder(const FlattenOptions& options, const ExactStack& flat) {
  if (options.format != "bpf" || options.file.empty())
    return failure(Errc::refused, fmt::format("needs {} programs ({}); -f bpf -o FOLDER writes them, the oldest first",
                                              flat.programs.size(), flat.why));
  std::vector<std::pair<std::string, std::string>> files;
  for (std::size_t i = 0; i < flat.programs.size(); ++i)
    files.emplace_back(filter_file_name(i, flat.programs.size()), program::to_bytes(flat.programs[i].view()));
  return write_filter_folder(options.file, files);
}

Result<void> flatten_layers(Session& session, const FlattenOptions& options) {
  const auto format = write::format_from_name(options.format);
  TRY(session.prepare());
  TRY_ASSIGN(Stack stack, session.compile(options.layers));
  TRY(session.show_diagnostics());
  TRY_ASSIGN(const ExactStack flat, flatten_to_stack(stack, session.options()));
  // What each layer is good for takes longer than the program: only for those who read it.
  const bool shown = !options.file.empty() && !session.output().quiet;
  std::string json, text;
  if (!format || shown) {
    TRY_ASSIGN(const Report report, make_report(stack, flat, session.options()));
    json = to_json(session, stack, flat, report).dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
    text = summary(stack, flat, report);
  }
  if (format && flat.programs.size() > 1)
    TRY(save_folder(options, flat));
  else
    TRY(save(options, format ? write::write(flat.programs.front(), *format) : json, format == write::Format::bpf));
  if (session.wants_timings() && !session.output().json) std::fputs(timings_text(stack.timings).c_str(), stderr);
  if (!shown) return {};
  if (print(session.output().json ? json : text) != kOk) return reported();
  return {};
}

}  // namespace

int run_flatten(int argc, char** argv) {
  CommandLine app("The one program that equals the stack of the layers, oldest first; proved.", "seccompress flatten");
  FlattenOptions flatten;
  CompileOptions compile;
  OutputOptions output;
  std::vector<std::string> names{"json"};
  std::string help = "output format:";
  for (const write::FormatFacts& facts : write::formats()) {
    names.emplace_back(facts.name);
    help += fmt::format("\n{} ({})", facts.name, facts.summary);
  }
  app.option("LAYER", flatten.layers, "[KIND:]LOCATION, oldest first", {.required = true});
  app.option("-o,--output", flatten.file,
             "file to write, all or nothing (default: standard output); a folder\nwhere it takes several programs");
  app.option("-f,--format", flatten.format, help + "\njson (a report)", {.one_of = names, .show_default = true});
  add_read_options(app, compile);
  add_emit_options(app, compile);
  add_output_options(app, output);
  if (const auto code = app.parse(argc, argv)) return *code;
  if (output.json && flatten.file.empty()) flatten.format = "json";

  Session session(compile, output);
  const Result<void> done = flatten_layers(session, flatten);
  return done ? kOk : session.fail(done.error());
}

}  // namespace seccompress::cmd
