// SPDX-License-Identifier: Apache-2.0
#include "support/diagnostic.h"

#include <utility>

#include "support/result.h"

namespace seccompress {

std::string_view to_string(Severity severity) {
  switch (severity) {
    case Severity::error: return "error";
    case Severity::warning: return "warning";
    case Severity::note: return "note";
  }
  return "?";
}

std::string to_string(const Diagnostic& diagnostic) {
  std::string text = diagnostic.where.file.empty() ? "seccompress" : diagnostic.where.file;
  if (diagnostic.where.line > 0) {
    text += ':' + std::to_string(diagnostic.where.line);
    if (diagnostic.where.column > 0) text += ':' + std::to_string(diagnostic.where.column);
  }
  text += ": ";
  text += to_string(diagnostic.severity);
  text += ": " + without_middle(diagnostic.what);
  if (!diagnostic.where.pointer.empty()) text += " (at " + without_middle(diagnostic.where.pointer) + ')';
  if (!diagnostic.hint.empty()) text += "; " + diagnostic.hint;
  return text;
}

void Diagnostics::add(Diagnostic diagnostic) {
  std::size_t& count = diagnostic.severity == Severity::error ? errors_ : others_;
  if (++count > kLimit) {
    ++dropped_;
    return;
  }
  all_.push_back(std::move(diagnostic));
}

void Diagnostics::error(std::string_view code, Location where, std::string what, std::string hint) {
  add({Severity::error, code, std::move(where), std::move(what), std::move(hint)});
}

void Diagnostics::warning(std::string_view code, Location where, std::string what, std::string hint) {
  add({Severity::warning, code, std::move(where), std::move(what), std::move(hint)});
}

}  // namespace seccompress
