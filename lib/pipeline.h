// SPDX-License-Identifier: Apache-2.0
// The stages in order, as one call: read, lower or raise, merge, emit, verify.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "diagram/store.h"
#include "emit/emit.h"
#include "merge/merge.h"
#include "program/verified_program.h"
#include "read/reader.h"
#include "support/diagnostic.h"
#include "support/result.h"
#include "verify/verify.h"

namespace seccompress {

struct PipelineOptions {
  read::Options read;
  emit::Options emit;
  verify::Options verify;
  diagram::Limits diagram;
};

// A layer with both of its forms: the programs that verify takes as its meaning, and its diagram.
struct CompiledLayer {
  std::string name;  // "oci:config.json", "dir:redis"
  std::string kind;
  std::vector<program::Code> filters;           // oldest first; a policy layer has its reference program
  std::vector<std::string> filter_names;        // same length
  std::vector<diagram::Node> filter_nodes;      // same length
  diagram::Node node = 0;                       // the layer as one function
  std::optional<policy::Policy> policy;         // for layers that are one policy
  std::vector<policy::Policy> filter_policies;  // for layers of several (systemd): one a filter; else empty
};

// CPU time of each stage in microseconds.
struct Timings {
  double read = 0, lower = 0, merge = 0, emit = 0, verify = 0;
  double total() const { return read + lower + merge + emit + verify; }
};

// One store and everything compiled into it. Layers oldest first.
struct Stack {
  std::unique_ptr<diagram::Store> store;
  std::vector<CompiledLayer> layers;
  Timings timings;

  std::vector<program::Code> programs() const;  // all layers' filters, oldest first
};

Stack make_stack(const PipelineOptions& options);
// Reads (if need be) and compiles one more, newer layer.
Result<void> add_layer(Stack& stack, const read::LayerSpec& spec, const PipelineOptions& options,
                       Diagnostics& diagnostics);
Result<void> add_layer(Stack& stack, read::Layer layer, const PipelineOptions& options, Diagnostics& diagnostics);

// Can this function answer USER_NOTIF? Two filters that can are not one program: which listener a notification goes to
// depends on the filter that wins (kernel/seccomp.c seccomp_do_user_notification), and a task has one listener.
bool can_notify(const Stack& stack, diagram::Node node);

// A layer or a filter of a stack: its function and the programs that it stands for, oldest first.
struct StackPart {
  std::string name;
  diagram::Node node = 0;
  std::span<const program::Code> programs;
};
std::vector<StackPart> parts_by_layer(const Stack& stack);
std::vector<StackPart> parts_by_filter(const Stack& stack);  // "LAYER", or "LAYER/FILTER" for one of several
// merge::contribution; where carried code leaves it open, verify decides.
Result<merge::Contribution> contribution(Stack& stack, std::span<const StackPart> oldest_first,
                                         const PipelineOptions& options);
// The first layers of the stack against the others: merge::compare, or verify where carried code leaves it open.
Result<merge::Comparison> compare(Stack& stack, std::size_t left_layers, const PipelineOptions& options);

// Which layer to look at when a limit was reached: "the longest program is that of oci:a.json, 5000 instructions".
std::string longest_program(const Stack& stack);

struct Flat {
  program::VerifiedProgram program;
  diagram::Node node;
};
// Merge, emit, verify. Anything but a proof is an Error that shows the witness or the limit.
Result<Flat> flatten(Stack& stack, const PipelineOptions& options);

}  // namespace seccompress
