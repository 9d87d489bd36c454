// SPDX-License-Identifier: Apache-2.0
// What each stage of flattening costs, for 1, 8, 34 and 64 layers, and what libseccomp takes to build and export the
// container profile in the same run. The newest layer is the container profile, the others are small filters of their
// own, like those of a hardened unit: some numbers and two argument tests for one architecture. No suite: run
//   build/test/benchmark/flatten [--benchmark_filter=...]
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <map>
#include <memory>

#include "emit/emit.h"
#include "lower/lower.h"
#include "merge/merge.h"
#include "raise/raise.h"
#include "read/reader.h"
#include "support/clock.h"
#include "support/file.h"
#include "support/libseccomp_build.h"
#include "support/paths.h"
#include "verify/verify.h"

namespace seccompress::test {
namespace {

using diagram::Compare;
using diagram::Node;

const std::string& profile_text() {
  static const std::string kText = read_file(std::string(kProfiles) + "/container-default.json", 1U << 20).value();
  return kText;
}

policy::Policy parse_profile() {
  const read::Options options{.arch = abi::Arch::x86_64, .caps = read::docker_default_caps(), .kernel = {6, 1}};
  Diagnostics diagnostics;
  return std::get<policy::Policy>(
      read::read_bytes({"docker", "profile"}, profile_text(), options, diagnostics)->content);
}

// A small filter as bytes. Each number makes another one.
std::string small_layer(std::uint32_t number) {
  constexpr abi::Word kA0 = 4, kA2 = 8;
  diagram::Store store;
  const Node allow = store.terminal(abi::kAllow), eperm = store.terminal(abi::kErrno | 1U);
  Node node = allow;
  for (std::uint32_t i = 0; i < 12; ++i)
    node = store.test(abi::kNr, ~0U, Compare::eq, (number * 31 + i * i * 7) % 440, eperm, node);
  const Node flags = store.test(kA2, 4U << number % 8, Compare::set, 4U << number % 8, eperm, allow);
  const Node value = store.test(kA0, ~0U, Compare::eq, number, eperm, allow);
  node = store.test(abi::kNr, ~0U, Compare::eq, 9 + number % 3, flags, node);
  node = store.test(abi::kNr, ~0U, Compare::eq, 41 + number % 2, value, node);
  node = store.test(abi::kArch, ~0U, Compare::eq, abi::facts(abi::Arch::x86_64).audit, node, allow);
  return program::to_bytes(emit::emit(store, node).value());
}

// Everything that a stage needs from those before it.
struct Prepared {
  std::vector<std::string> bytes;
  std::vector<program::Code> programs;  // oldest first; the last is the profile's reference program
  policy::Policy profile = parse_profile();
  std::unique_ptr<diagram::Store> store = std::make_unique<diagram::Store>();
  std::vector<Node> nodes;
  Node merged = 0;
  program::Code flat;
};

std::vector<Node> raise_all(const Prepared& prepared, diagram::Store& store) {
  std::vector<Node> nodes;
  for (std::size_t i = 0; i + 1 < prepared.programs.size(); ++i)
    nodes.push_back(raise::raise(prepared.programs[i], store).value());
  nodes.push_back(lower::lower(prepared.profile, store).value());
  return nodes;
}

const Prepared& prepared(std::size_t layers) {
  static std::map<std::size_t, Prepared> all;
  const auto [entry, is_new] = all.try_emplace(layers);
  Prepared& one = entry->second;
  if (!is_new) return one;
  for (std::uint32_t i = 1; i < layers; ++i) {
    one.bytes.push_back(small_layer(i));
    one.programs.push_back(program::from_bytes(one.bytes.back(), "layer").value());
  }
  one.programs.push_back(lower::reference_program(one.profile));
  one.nodes = raise_all(one, *one.store);
  one.merged = merge::merge(*one.store, one.nodes).value();
  one.flat = emit::emit(*one.store, one.merged).value();
  return one;
}

std::size_t layers_of(const benchmark::State& state) { return static_cast<std::size_t>(state.range(0)); }

void parse(benchmark::State& state) {
  const Prepared& one = prepared(layers_of(state));
  for (auto _ : state) {
    for (const std::string& bytes : one.bytes) benchmark::DoNotOptimize(program::from_bytes(bytes, "layer"));
    benchmark::DoNotOptimize(parse_profile());
  }
}

void raise_and_lower(benchmark::State& state) {
  const Prepared& one = prepared(layers_of(state));
  for (auto _ : state) {
    diagram::Store store;
    benchmark::DoNotOptimize(raise_all(one, store));
  }
}

void merge_layers(benchmark::State& state) {
  const Prepared& one = prepared(layers_of(state));
  for (auto _ : state) {
    state.PauseTiming();  // a store remembers its products
    diagram::Store store;
    const std::vector<Node> nodes = raise_all(one, store);
    state.ResumeTiming();
    benchmark::DoNotOptimize(merge::merge(store, nodes));
  }
}

void emit_program(benchmark::State& state) {
  const Prepared& one = prepared(layers_of(state));
  for (auto _ : state) benchmark::DoNotOptimize(emit::emit(*one.store, one.merged));
}

void verify_program(benchmark::State& state) {
  const Prepared& one = prepared(layers_of(state));
  for (auto _ : state) {
    const verify::Outcome outcome = verify::prove(one.flat, one.programs);
    if (!std::holds_alternative<program::VerifiedProgram>(outcome)) state.SkipWithError("not proved");
  }
}

// All of it, bytes to proof.
bool flatten(const Prepared& one) {
  Prepared fresh;
  for (const std::string& bytes : one.bytes) fresh.programs.push_back(program::from_bytes(bytes, "layer").value());
  fresh.programs.push_back(lower::reference_program(fresh.profile));
  fresh.merged = merge::merge(*fresh.store, raise_all(fresh, *fresh.store)).value();
  fresh.flat = emit::emit(*fresh.store, fresh.merged).value();
  return std::holds_alternative<program::VerifiedProgram>(verify::prove(fresh.flat, fresh.programs));
}

void flatten_layers(benchmark::State& state) {
  const Prepared& one = prepared(layers_of(state));
  for (auto _ : state)
    if (!flatten(one)) state.SkipWithError("not proved");
}

// The profile alone, in a child as libseccomp below: neither gives memory back to the kernel between rounds.
void flatten_profile(benchmark::State& state) {
  ::mallopt(M_TRIM_THRESHOLD, 64 << 20);
  const Prepared& one = prepared(1);
  for (auto _ : state) state.SetIterationTime(time_in_child([&] { return flatten(one); }).value_or(1e9) / 1e6);
}

// In a child, which measures itself (libseccomp never returns on some rule sets).
void libseccomp(benchmark::State& state, LibseccompShape shape) {
  const policy::Policy profile = parse_profile();
  for (auto _ : state) {
    const auto took = time_libseccomp(profile, shape);
    if (!took) state.SkipWithError("libseccomp failed");
    state.SetIterationTime(took.value_or(0) / 1e6);
  }
}

#define LAYERS Arg(1)->Arg(8)->Arg(34)->Arg(64)->Unit(benchmark::kMicrosecond)
BENCHMARK(parse)->LAYERS;
BENCHMARK(raise_and_lower)->LAYERS;
BENCHMARK(merge_layers)->LAYERS;
BENCHMARK(emit_program)->LAYERS;
BENCHMARK(verify_program)->LAYERS;
BENCHMARK(flatten_layers)
    ->Arg(1)
    ->Arg(2)
    ->Arg(4)
    ->Arg(8)
    ->Arg(16)
    ->Arg(32)
    ->Arg(34)
    ->Arg(64)
    ->Unit(benchmark::kMicrosecond);
BENCHMARK(flatten_profile)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(libseccomp, list, LibseccompShape::list)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(libseccomp, tree, LibseccompShape::tree)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace seccompress::test

BENCHMARK_MAIN();
