// SPDX-License-Identifier: Apache-2.0
// unixbench, entry, allow-min: loops of system calls in children under different stacks. Published figures: Kees Cook's
// and YiFei Zhu's measurements of stacked filters and of the constant-action cache (patches to kernel/seccomp.c, 2020).
#include <fmt/core.h>

#include "bench.h"
#include "inputs.h"
#include "output.h"

namespace seccompress::cmd {
namespace {

using bench::Loop;
using bench::Row;
using bench::Section;
using bench::Spread;
using bench::Variant;

constexpr std::size_t kCopies = 32;
constexpr const char* kRate = "loops a second of processor time, more is better";

// A part of the bench's whole as a progress of its own.
std::function<void(double)> part(const BenchContext& context, const std::string& what, double from, double to) {
  return [&context, what, from, to](double share) { context.progress(what, from + (to - from) * share); };
}

std::vector<Variant> copies_variants(const BenchSubject& copies, std::initializer_list<std::size_t> counts) {
  std::vector<Variant> variants{{"no filter", {}}};
  for (const std::size_t count : counts) variants.push_back({counted(count, "filter"), first(copies.stack, count)});
  variants.push_back({fmt::format("{} filters, flattened", copies.stack.size()), copies.flat});
  return variants;
}

std::string range(const Spread& ratio) {
  return fmt::format("{:.3f} (middle half {:.3f} to {:.3f})", ratio.median, ratio.lower_quartile, ratio.upper_quartile);
}

// ---- unixbench -----------------------------------------------------------------------------------------------------

Section published_unixbench() {
  return {"published: five-call loop, aarch64, Linux 5.7, 10 s",
          "loops",
          true,
          0,
          {{"no filter", {10684939}}, {"1 filter", {8513805}}, {"4 filters", {7105592}}, {"32 filters", {2308677}}}};
}

Result<Section> five_calls_section(BenchContext& context, LoopRules rules, const std::string& title, double from) {
  TRY_ASSIGN(const BenchSubject copies, copies_subject(context.session, rules, kCopies));
  Section section{title, kRate};
  TRY_ASSIGN(section.rows, bench::measure_rates(copies_variants(copies, {1, 4, kCopies}), Loop::five_calls,
                                                context.plan, part(context, title, from, from + 0.49)));
  return section;
}

Result<Section> installing_section(BenchContext& context, const BenchSubject& subject) {
  bench::Plan plan = context.plan;
  plan.trials *= 3;  // a millisecond each
  Section section{"installing", "microseconds of processor time, less is better"};
  TRY_ASSIGN(section.rows,
             bench::measure_installing(
                 {{"the flat program", subject.flat}, {counted(subject.stack.size(), "filter"), subject.stack}}, plan));
  return section;
}

}  // namespace

Result<bench::Report> bench_unixbench(BenchContext& context) {
  bench::Report report{"unixbench", "the five-call loop under stacked filters"};
  report.sections.push_back(published_unixbench());
  TRY_ASSIGN(Section cached,
             five_calls_section(context, LoopRules::as_they_are, "five calls that every filter always allows", 0));
  TRY_ASSIGN(Section checked, five_calls_section(context, LoopRules::checked,
                                                 "five calls of which every filter checks an argument", 0.49));
  TRY_ASSIGN(const BenchSubject stack, stack_subject(context.session, context.layers));
  TRY_ASSIGN(Section installing, installing_section(context, stack));
  const Spread flat = bench::spread(bench::ratios(checked.rows[4].trials, checked.rows[1].trials));
  const Spread load = bench::spread(installing.ratio_trials(1));
  report.notes = {
      "published as time lost: 19.8, 33.0, 78.3 %; of it in BPF: 5.7, 17.0, 38.7 %",
      fmt::format("argument-checked loop, {} filters flattened to 1 filter: {} (bar: 0.97)", kCopies, range(flat)),
      fmt::format("installing {} takes {:.1f} times as long as the flat program (bar: 12)",
                  counted(stack.stack.size(), "filter"), load.median)};
  for (Section* section : {&cached, &checked, &installing}) report.sections.push_back(std::move(*section));
  return report;
}

// ---- entry
// -----------------------------------------------------------------------------------------------------------

namespace {

constexpr double kNanoseconds = 1e9;

Section published_entry() {
  return {"published: getpid", "ns", true, 0, {{"no filter", {226}}, {"1 filter", {243}}, {"2 filters", {258}}}};
}

Result<Section> getpid_section(BenchContext& context, LoopRules rules, const std::string& title, double from) {
  TRY_ASSIGN(const BenchSubject copies, copies_subject(context.session, rules, kCopies));
  Section section{title, "ns of processor time a call, less is better"};
  TRY_ASSIGN(section.rows, bench::measure_rates(copies_variants(copies, {1, 2, kCopies}), Loop::getpid, context.plan,
                                                part(context, title, from, from + 0.5)));
  for (Row& row : section.rows)
    for (double& trial : row.trials) trial = kNanoseconds / trial;
  return section;
}

// t(n) = native + entry + n * filter, from the trials that ran next to each other.
void add_estimates(Section& estimates, const Section& section, const std::string& path) {
  Row filter{"each filter, " + path, {}}, entry{"entry, " + path, {}};
  for (std::size_t i = 0; i < section.rows[0].trials.size(); ++i) {
    const double native = section.rows[0].trials[i], one = section.rows[1].trials[i], all = section.rows[3].trials[i];
    filter.trials.push_back((all - one) / (kCopies - 1));
    entry.trials.push_back(one - native - filter.trials.back());
  }
  estimates.rows.push_back(filter);
  estimates.rows.push_back(entry);
}

}  // namespace

Result<bench::Report> bench_entry(BenchContext& context) {
  bench::Report report{"entry", "what entering seccomp and each filter cost getpid"};
  TRY_ASSIGN(Section bitmap,
             getpid_section(context, LoopRules::as_they_are, "getpid, always allowed: the cache answers", 0));
  TRY_ASSIGN(Section bpf,
             getpid_section(context, LoopRules::checked, "getpid, an argument is checked: filters run", 0.5));
  Section estimates{"estimated overhead", "ns", false, std::nullopt};
  add_estimates(estimates, bpf, "filters run");
  add_estimates(estimates, bitmap, "the cache answers");
  Section published{"published: estimated overhead", "ns", true, std::nullopt, {{"each filter", {15}}, {"entry", {2}}}};
  report.sections = {published_entry(), std::move(bpf), std::move(bitmap), std::move(published), std::move(estimates)};
  return report;
}

// ---- allow-min
// -------------------------------------------------------------------------------------------------------

Result<bench::Report> bench_allow_min(BenchContext& context) {
  bench::Report report{"allow-min", "the flat program keeps the kernel's cache"};
  TRY_ASSIGN(const BenchSubject subject, stack_subject(context.session, context.layers));
  Section published{"published: system call loop under a filter that allows all, 100 s, two barriers",
                    "loops",
                    true,
                    0,
                    {{"rmb()", {35861159}}, {"smp_rmb()", {36552771}}}};
  Section section{"five calls, always allowed", kRate};
  TRY_ASSIGN(section.rows, bench::measure_rates({{"no filter", {}},
                                                 {counted(subject.stack.size(), "filter"), subject.stack},
                                                 {"flattened", subject.flat}},
                                                Loop::five_calls, context.plan, part(context, section.title, 0, 1)));
  report.notes = {"flattened to no filter: " + range(bench::spread(section.ratio_trials(2)))};
  report.sections = {std::move(published), std::move(section)};
  return report;
}

}  // namespace seccompress::cmd
