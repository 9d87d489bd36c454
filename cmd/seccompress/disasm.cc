// SPDX-License-Identifier: Apache-2.0
// disasm: one layer -> a readable listing. Filters are listed as they are; a policy as the program that
// flatten makes of it alone.
#include <nlohmann/json.hpp>

#include "command.h"
#include "output.h"
#include "session.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;

Json to_json(const read::NamedFilter& filter) {
  Json instructions = Json::array();
  std::istringstream listing(program::disassemble(filter.code));
  std::string line;
  for (const program::Instruction& i : filter.code) {
    std::getline(listing, line);
    instructions.push_back({{"code", i.code}, {"jt", i.jt}, {"jf", i.jf}, {"k", i.k}, {"text", line}});
  }
  return {{"name", filter.name}, {"instructions", instructions}};
}

Result<void> disassemble_layer(Session& session, const std::string& name) {
  TRY(session.prepare());
  TRY_ASSIGN(read::Layer layer, session.read(name));
  TRY(session.show_diagnostics());
  TRY_ASSIGN(const std::vector<read::NamedFilter> filters, session.programs_of(std::move(layer)));
  Json json = Json::array();
  std::string text;
  for (const read::NamedFilter& filter : filters) {
    TRY(program::check(filter.code));
    if (session.output().json) json.push_back(to_json(filter));
    if (filters.size() > 1) text += styled(filter.name, Style::strong) + '\n';
    text += program::disassemble(filter.code);
  }
  if ((session.output().json ? print_json(Json{{"filters", json}}) : print(text)) != kOk) return reported();
  return {};
}

}  // namespace

int run_disasm(int argc, char** argv) {
  CommandLine app("A readable listing of a layer's programs, oldest first.", "seccompress disasm");
  std::string layer;
  CompileOptions compile;
  OutputOptions output;
  app.option("LAYER", layer, "[KIND:]LOCATION", {.required = true});
  add_read_options(app, compile);
  add_emit_options(app, compile);
  add_output_options(app, output);
  if (const auto code = app.parse(argc, argv)) return *code;

  Session session(compile, output);
  const Result<void> done = disassemble_layer(session, layer);
  return done ? kOk : session.fail(done.error());
}

}  // namespace seccompress::cmd
