// SPDX-License-Identifier: Apache-2.0
// Input: what a program is made of. Output: the program of an earlier start, or nothing. Entry points: inputs_text,
// Compositions.
// Method: the text has each ingredient with its size, long ones as their SHA-256 over pieces with their sizes: no two
// sets of ingredients have one text. Flags are in it although no instruction depends on them, because whether two
// layers would notify does: a hit has passed every check that its ingredients can fail.
// Weakness: two starts of one new program at once compose it twice.
#include "composition.h"

#include <sys/utsname.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "support/sha256.h"

namespace seccompress::hooks {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kHeader[] = "seccompress composition 1\n";
constexpr char kNone[] = "-";

const char* to_text(Ingredients::Kind kind) {
  switch (kind) {
    case Ingredients::Kind::host: return "host";
    case Ingredients::Kind::predicted: return "predicted";
    case Ingredients::Kind::merged: return "merged";
  }
  return "";
}

void append(std::string& text, std::string_view name, std::string_view content) {
  text += name;
  text += ' ';
  text += std::to_string(content.size());
  text += '\n';
  text += content;
  text += '\n';
}

void append(std::string& bytes, const std::vector<program::Code>& filters) {
  append(bytes, "filters", std::to_string(filters.size()));
  for (const program::Code& code : filters) append(bytes, "filter", program::to_bytes(code));
}

std::string hash_of(const std::vector<program::Code>& filters) {
  std::string bytes;
  append(bytes, filters);
  return sha256(bytes);
}

std::string hash_of(const std::vector<std::vector<program::Code>>& layers) {
  std::string bytes;
  append(bytes, "layers", std::to_string(layers.size()));
  for (const std::vector<program::Code>& filters : layers) append(bytes, filters);
  return sha256(bytes);
}

std::string about_text(const Composed& composed, const program::VerifiedProgram& program) {
  return Json{{"program_sha256", sha256(program::to_bytes(program.view()))},
              {"with_profile", composed.with_profile},
              {"mismatch", composed.mismatch}}
      .dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The words passed the receipt's checksum; what they do not say all the same is a bad entry.
std::optional<Compositions::Known> read_about(receipt::Receipt receipt) {
  try {
    const Json about = Json::parse(receipt.about);
    return Compositions::Known{std::move(receipt.program),
                               about.at("program_sha256").get<std::string>(),
                               {about.at("with_profile").get<bool>(), about.at("mismatch").get<std::string>()}};
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::string kernel_release() {
  utsname name{};
  return ::uname(&name) == 0 ? name.release : "";
}

std::string inputs_text(const Ingredients& ingredients) {
  std::string text = kHeader;
  append(text, "kind", to_text(ingredients.kind));
  append(text, "build", ingredients.build);
  append(text, "kernel", ingredients.kernel);
  append(text, "host", hash_of(ingredients.host));
  append(text, "profile", ingredients.profile ? hash_of(*ingredients.profile) : kNone);
  append(text, "on_mismatch", ingredients.on_mismatch == bundle::OnMismatch::refuse ? "refuse" : "strictest");
  append(text, "container", sha256(program::to_bytes(ingredients.container)));
  append(text, "flags", std::to_string(ingredients.flags));
  return text;
}

void Compositions::note(std::string text) {
  if (std::find(notes_.begin(), notes_.end(), text) == notes_.end()) notes_.push_back(std::move(text));
}

std::optional<Compositions::Known> Compositions::recall(const std::string& inputs) {
  using State = receipt::FoundProgram::State;
  if (off_) return std::nullopt;
  receipt::FoundProgram found = programs_.find(inputs);
  if (found.state == State::hit) {
    std::optional<Known> known = read_about(std::move(*found.receipt));
    if (known) return known;
    found.why = "the receipt says nothing about its program";
  }
  off_ = found.state == State::off;
  if (!found.why.empty()) note((off_ ? "no kept program is used: " : "composed again: ") + found.why);
  return std::nullopt;
}

void Compositions::remember(std::string inputs, Composed composed, program::VerifiedProgram program) {
  if (off_) return;
  std::string about = about_text(composed, program);
  fresh_.push_back({std::move(inputs), std::move(about), std::move(program)});
}

void Compositions::keep() {
  for (const Fresh& fresh : fresh_) {
    const Result<bool> kept = programs_.keep(fresh.inputs, fresh.about, fresh.program.view());
    if (!kept) note("the program was not kept: " + to_string(kept.error()));
  }
  fresh_.clear();
}

}  // namespace seccompress::hooks
