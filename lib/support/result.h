// SPDX-License-Identifier: Apache-2.0
// Result<T>: a value, or the world's refusal. The seam for std::expected once both compilers have it.
//
// Three kinds of failure, three mechanisms, never mixed (lib/README.md):
//   the user's input is wrong   Diagnostics (diagnostic.h) + an Error whose code is Errc::reported
//   the world refused           Error with the errno or Errc in `code` and the context in `what`
//   we are wrong                CHECK (check.h)
#pragma once

#include <cerrno>
#include <string>
#include <system_error>
#include <tl/expected.hpp>
#include <utility>

namespace seccompress {

// Failures that are not an errno.
enum class Errc {
  reported = 1,  // the Diagnostics sink already holds the explanation
  budget,        // a stated limit (nodes, instructions, bytes, depth) was reached
  inexact,       // the input cannot be expressed exactly (e.g. arithmetic in a diagram)
  malformed,     // bytes that no kernel would accept
  refused,       // a safety rule forbids it (ownership, identity, looseness)
};
const std::error_category& error_category();
inline std::error_code make_error_code(Errc e) { return {static_cast<int>(e), error_category()}; }

}  // namespace seccompress
template <>
struct std::is_error_code_enum<seccompress::Errc> : std::true_type {};
namespace seccompress {

struct Error {
  std::error_code code;
  std::string what;  // complete sentence fragment, context first: "/etc/x.bpf: size 12 is not a multiple of 8"
};

// A bare tl::expected does not warn when it is dropped; this one does.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result(Base base) : Base(std::move(base)) {}  // NOLINT(google-explicit-constructor): conversion is the point
};

inline tl::unexpected<Error> failure(std::error_code code, std::string what) {
  return tl::unexpected<Error>(Error{code, std::move(what)});
}
// Captures errno; call it before anything else can change errno.
inline tl::unexpected<Error> errno_failure(std::string what) {
  return failure({errno, std::generic_category()}, std::move(what));
}
inline tl::unexpected<Error> reported() { return failure(Errc::reported, "see the diagnostics"); }

// "context: what: strerror" for an errno, "context: what" for our own codes.
std::string to_string(const Error& error);
// A text for people, with what is too long for them left out of its middle: messages quote input, and that can be
// anything.
std::string without_middle(std::string text);

}  // namespace seccompress

#define SECCOMPRESS_CONCAT_(a, b) a##b
#define SECCOMPRESS_CONCAT(a, b) SECCOMPRESS_CONCAT_(a, b)
#define TRY(expr)                                                                  \
  do {                                                                             \
    if (auto try_ = (expr); !try_) return tl::unexpected(std::move(try_).error()); \
  } while (false)
#define TRY_ASSIGN_(tmp, decl, expr)                       \
  auto tmp = (expr);                                       \
  if (!tmp) return tl::unexpected(std::move(tmp).error()); \
  decl = std::move(*tmp)
// TRY_ASSIGN(auto x, f()): binds the value or returns the error.
#define TRY_ASSIGN(decl, expr) TRY_ASSIGN_(SECCOMPRESS_CONCAT(try_tmp_, __COUNTER__), decl, expr)
