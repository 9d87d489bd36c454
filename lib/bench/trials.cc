// SPDX-License-Identifier: Apache-2.0
// Input: variants and a plan. Output: the figures of each trial. Entry points: measure_rates, measure_installing.
#include "bench/trials.h"

#include "verify/verify.h"

namespace seccompress::bench {
namespace {

std::vector<Row> rows_of(const std::vector<Variant>& variants) {
  std::vector<Row> rows;
  for (const Variant& variant : variants) rows.push_back({variant.label, {}});
  return rows;
}

template <class T>
Result<T> about(const Variant& variant, Result<T> result) {
  if (result) return result;
  return failure(result.error().code, variant.label + ": " + result.error().what);
}

}  // namespace

Result<std::vector<Row>> measure_rates(const std::vector<Variant>& variants, Loop loop, const Plan& plan,
                                       const std::function<void(double share)>& progress) {
  std::vector<std::unique_ptr<Worker>> workers;
  for (const Variant& variant : variants) {
    TRY_ASSIGN(auto worker, about(variant, Worker::start(variant.filters)));
    workers.push_back(std::move(worker));
  }
  std::vector<Row> rows = rows_of(variants);
  const double all = static_cast<double>(plan.trials) * static_cast<double>(variants.size());
  double done = 0;
  for (int trial = 0; trial < plan.trials; ++trial)
    for (std::size_t i = 0; i < workers.size(); ++i) {
      progress(done++ / all);
      TRY_ASSIGN(const Rounds rounds, about(variants[i], workers[i]->run(loop, plan.seconds)));
      rows[i].trials.push_back(rounds.count / rounds.seconds);
    }
  return rows;
}

Result<std::vector<Row>> measure_installing(const std::vector<Variant>& variants, const Plan& plan) {
  std::vector<Row> rows = rows_of(variants);
  for (int trial = 0; trial < plan.trials; ++trial)
    for (std::size_t i = 0; i < variants.size(); ++i) {
      TRY_ASSIGN(const double microseconds, about(variants[i], install_microseconds(variants[i].filters)));
      rows[i].trials.push_back(microseconds);
    }
  return rows;
}

Result<program::VerifiedProgram> as_verified(const program::Code& code) {
  verify::Outcome outcome = verify::prove(code, std::vector<program::Code>{code});
  if (auto* verified = std::get_if<program::VerifiedProgram>(&outcome)) return std::move(*verified);
  return failure(Errc::inexact, "a filter of the stack: " + verify::to_string(outcome));
}

Result<std::vector<program::VerifiedProgram>> as_verified(const std::vector<program::Code>& filters) {
  std::vector<program::VerifiedProgram> all;
  for (const program::Code& code : filters) {
    TRY_ASSIGN(program::VerifiedProgram one, as_verified(code));
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace seccompress::bench
