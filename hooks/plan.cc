// SPDX-License-Identifier: Apache-2.0
// Input: settings, config.json. Output: decisions. Entry points: Plan::make in the hook, Plan::decide at the stop.
// Method: the container's layer is the program read at its install call, nothing else. What config.json predicts
// is compiled before: when the runtime's program turns out to be the same function, the predicted program is
// right and only has to be proved against the real one; when not, the profile joins the stack as a layer of its
// own (on_mismatch: strictest) or the start is refused.
// "Never looser than what the runtime was about to install" holds twice: by the proof against the whole stack,
// and by merge::compare of the two diagrams. A program that an earlier start composed of the same ingredients passed
// both then; it is taken from its receipt (composition.h), before the container's program is even raised.
#include "plan.h"

#include <linux/seccomp.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "abi/arch.h"
#include "abi/call.h"
#include "create_container.h"
#include "install/speculation.h"
#include "layer_systemd.h"
#include "layers.h"
#include "needs.h"
#include "policy/runtime.h"
#include "raise/raise.h"
#include "support/build_id.h"
#include "support/sha256.h"

namespace seccompress::hooks {
namespace {

constexpr char kCrunBpfAnnotation[] = "run.oci.seccomp_bpf_data";
// crun 1.8.1 seccomp.c: "if no seccomp flag was specified use a sane default".
constexpr std::uint32_t kCrunFlags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
constexpr std::array kCrunListenerAnnotations = {"run.oci.seccomp.receiver", "run.oci.seccomp.plugins"};

policy::Runtime policy_runtime(abi::Runtime runtime) {
  return runtime == abi::Runtime::runc ? policy::Runtime::runc : policy::Runtime::crun;
}

std::size_t instructions_of(const CompiledLayer& layer) {
  std::size_t sum = 0;
  for (const program::Code& filter : layer.filters) sum += filter.size();
  return sum;
}

abi::SeccompData data_of(const install::Call& call) {
  abi::SeccompData data{};
  data.nr = static_cast<int>(call.nr);
  data.arch = call.arch;
  std::copy(std::begin(call.args), std::end(call.args), std::begin(data.args));
  return data;
}

CompiledLayer container_layer(const program::Code& code) {
  CompiledLayer layer;
  layer.name = "bpf:container";
  layer.kind = "bpf";
  layer.filters = {code};
  layer.filter_names = {"container"};
  return layer;
}

std::string witness_text(diagram::Store& store, diagram::Node profile, diagram::Node actual) {
  const auto witness = store.difference(profile, actual);
  if (!witness) return "not found; code that no diagram holds may make one";
  return abi::call_text(*witness) + ": the profile says " + abi::to_string(store.evaluate(profile, *witness)) +
         ", the runtime's filter " + abi::to_string(store.evaluate(actual, *witness));
}

}  // namespace

std::uint32_t merge_flags(std::uint32_t container, const std::vector<std::uint32_t>& host,
                          std::vector<std::string>& notes) {
  std::uint32_t everywhere = SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_LOG;
  std::uint32_t somewhere = container;
  for (const std::uint32_t flags : host) {
    everywhere &= flags;
    somewhere |= flags;
  }
  const std::uint32_t merged =
      container & (everywhere | ~std::uint32_t{SECCOMP_FILTER_FLAG_SPEC_ALLOW | SECCOMP_FILTER_FLAG_LOG});
  if ((somewhere & ~merged & SECCOMP_FILTER_FLAG_LOG) != 0)
    notes.emplace_back("FILTER_FLAG_LOG left out: not all layers ask for it");
  return merged;
}

Plan::Plan(PlanInput input) : input_(std::move(input)), compositions_(input_.receipts) {
  stack_ = make_stack(options_);
}

Result<std::unique_ptr<Plan>> Plan::make(PlanInput input, Diagnostics& diagnostics) {
  std::unique_ptr<Plan> plan(new Plan(std::move(input)));
  TRY(plan->read_host_layers(diagnostics));
  // crun takes that annotation's program and does not look at linux.seccomp (crun seccomp.c); runc knows no such thing.
  const bool raw =
      plan->input_.runtime == abi::Runtime::crun && plan->input_.config.annotations.contains(kCrunBpfAnnotation);
  if (raw) plan->predicted_flags_ = kCrunFlags;  // unless linux.seccomp has others
  if (plan->input_.unconfined)
    TRY(plan->compile_host());
  else if (!raw)
    TRY(plan->predict(diagnostics));
  plan->predicted_flags_ |= plan->listener_flag();
  TRY(plan->one_listener(plan->listener_flag()));
  return plan;
}

// crun sets NEW_LISTENER whenever there is a receiver, runc when a rule notifies (then there is a path).
std::uint32_t Plan::listener_flag() const {
  const auto& annotations = input_.config.annotations;
  const bool annotated = input_.runtime == abi::Runtime::crun &&
                         std::any_of(kCrunListenerAnnotations.begin(), kCrunListenerAnnotations.end(),
                                     [&](const char* key) { return annotations.contains(key); });
  return annotated || !input_.config.listener_path.empty() ? SECCOMP_FILTER_FLAG_NEW_LISTENER : 0;
}

// One layer stands for all that is prepared. Its filter is the receipt's program, which is what the proof is about.
Result<void> Plan::add_prepared(Diagnostics& diagnostics) {
  const Prepared& prepared = *input_.prepared;
  files_ = HostFiles(prepared.inputs);
  systemd_ = prepared.systemd;
  host_flags_ = prepared.flags;
  read::Layer layer{{.kind = "bpf", .location = "prepared"},
                    std::vector<read::NamedFilter>{{"prepared", prepared.program.code()}}};
  return add_layer(stack_, std::move(layer), options_, diagnostics);
}

// Bytes hashed again at the swap: what was in memory since the hook read it is still what was proved.
Result<void> Plan::still_prepared() const {
  if (!input_.prepared || sha256(program::to_bytes(stack_.layers[0].filters[0])) == input_.prepared->program_sha256)
    return {};
  return failure(Errc::refused, "the prepared program changed in memory");
}

Result<void> Plan::read_host_layers(Diagnostics& diagnostics) {
  TRY_ASSIGN(LayerReader reader, LayerReader::make(input_.settings));
  options_.read = reader.options();
  std::vector<std::string> texts = input_.settings.layers_for(input_.config.annotations);
  if (input_.prepared) {
    TRY(add_prepared(diagnostics));
    texts.erase(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(input_.settings.host_layers.size()));
  }
  for (const std::string& text : texts) {
    TRY_ASSIGN(read::Layer layer, reader.read(text, diagnostics, files_));
    host_flags_.push_back(flags_of(layer));
    TRY(add_layer(stack_, std::move(layer), options_, diagnostics));
  }
  host_count_ = stack_.layers.size();
  if (reader.systemd()) systemd_ = record_of(*reader.systemd());
  return {};
}

// Compiles what config.json says as if the runtime had installed it, and takes it off the stack again.
Result<void> Plan::predict(Diagnostics& diagnostics) {
  const read::LayerSpec spec{.kind = "oci", .location = input_.config_path};
  TRY_ASSIGN(read::Layer layer, read::read_bytes(spec, input_.config_bytes, options_.read, diagnostics));
  auto* policy = std::get_if<policy::Policy>(&layer.content);
  if (policy == nullptr) return failure(Errc::malformed, input_.config_path + ": linux.seccomp is no profile");
  auto changed = policy::apply_runtime(std::move(*policy), policy_runtime(input_.runtime));
  if (!changed) return failure(changed.error().code, input_.config_path + ": " + changed.error().what);
  layer.content = std::move(*changed);
  predicted_flags_ = flags_of(layer);
  // An empty list may count as none or not (its JSON parser decides): what could be weaker is assumed.
  if (input_.runtime == abi::Runtime::crun && std::get<policy::Policy>(layer.content).flags.empty())
    predicted_flags_ = kCrunFlags;
  TRY(add_layer(stack_, std::move(layer), options_, diagnostics));
  profile_ = stack_.layers.back();
  TRY(predict_program(Ingredients::Kind::predicted));
  stack_.layers.pop_back();
  return {};
}

Result<void> Plan::compile_host() {
  if (!input_.prepared || stack_.layers.size() != 1) return predict_program(Ingredients::Kind::host);
  predicted_.emplace(input_.prepared->program);
  kept_sha256_ = input_.prepared->program_sha256;
  predicted_unmet_ = unmet(predicted_->view());
  return {};
}

// The program of the stack as it is.
Result<void> Plan::predict_program(Ingredients::Kind kind) {
  std::string inputs = inputs_text(ingredients(kind));
  if (std::optional<Compositions::Known> known = compositions_.recall(inputs)) {
    predicted_known_ = true;
    kept_sha256_ = std::move(known->program_sha256);
    predicted_.emplace(std::move(known->program));
  } else {
    TRY_ASSIGN(Flat flat, flatten(stack_, options_));
    compositions_.remember(std::move(inputs), {}, flat.program);
    predicted_.emplace(std::move(flat.program));
  }
  predicted_unmet_ = unmet(predicted_->view());
  return {};
}

// From the bytes that are in memory now.
Ingredients Plan::ingredients(Ingredients::Kind kind) const {
  Ingredients made;
  made.kind = kind;
  for (std::size_t i = 0; i < host_count_; ++i) made.host.push_back(stack_.layers[i].filters);
  if (profile_) made.profile = profile_->filters;
  made.on_mismatch = input_.settings.on_mismatch;
  made.build = build_id();
  made.kernel = kernel_release();
  return made;
}

std::vector<std::string> Plan::unmet(program::CodeView code) const {
  const bool at_exec = input_.unconfined && input_.config.no_new_privs;
  return unmet_messages(input_.runtime, input_.config.no_new_privs,
                        at_exec ? InForce::from_exec : InForce::from_install, code, stack_.layers);
}

// One task's chain has one listener (kernel: EBUSY), and a merged program has one origin: the container's.
Result<void> Plan::one_listener(std::uint32_t flags) const {
  std::vector<std::string> listeners;
  bool container = (flags & SECCOMP_FILTER_FLAG_NEW_LISTENER) != 0 || (profile_ && can_notify(stack_, profile_->node));
  for (std::size_t i = 0; i < stack_.layers.size(); ++i) {
    if (!can_notify(stack_, stack_.layers[i].node)) continue;
    if (i < host_count_)
      listeners.push_back(stack_.layers[i].name);
    else
      container = true;
  }
  if (container) listeners.emplace_back("the container's profile");
  if (listeners.size() < 2) return {};
  return failure(Errc::refused,
                 "two layers notify a listener, and a process can have one: " + listeners[0] + " and " + listeners[1]);
}

Result<void> Plan::add_container(const install::Attempt& attempt, Record& record) {
  Diagnostics diagnostics;
  stack_.layers.resize(host_count_);  // a second attempt starts anew
  read::Layer layer{{.kind = "bpf", .location = "container"},
                    std::vector<read::NamedFilter>{{"container", attempt.code}}};
  TRY(add_layer(stack_, std::move(layer), options_, diagnostics));
  const diagram::Node actual = stack_.layers.back().node;
  if (!profile_ || profile_->node == actual) return {};
  predicted_.reset();
  record.mismatch = witness_text(*stack_.store, profile_->node, actual);
  if (input_.settings.on_mismatch == bundle::OnMismatch::refuse)
    return failure(Errc::refused, "the runtime's filter is not what the profile says: " + record.mismatch);
  stack_.layers.insert(stack_.layers.end() - 1, *profile_);
  return {};
}

Result<program::VerifiedProgram> Plan::one_program() {
  if (predicted_) {
    verify::Outcome outcome = verify::prove(predicted_->view(), stack_.programs(), options_.verify);
    if (auto* proved = std::get_if<program::VerifiedProgram>(&outcome)) return std::move(*proved);
  }
  TRY_ASSIGN(Flat flat, flatten(stack_, options_));
  return std::move(flat.program);
}

Result<program::VerifiedProgram> Plan::compose_anew(const install::Attempt& attempt, Record& record) {
  kept_sha256_.clear();
  TRY(add_container(attempt, record));
  TRY(one_listener(attempt.flags));
  TRY_ASSIGN(program::VerifiedProgram program, one_program());
  TRY(not_looser(program.view()));
  return program;
}

// The stack that the known program stands for, for the record and for messages: nothing of it is compiled.
program::VerifiedProgram Plan::take_known(Compositions::Known known, const install::Attempt& attempt, Record& record) {
  stack_.layers.resize(host_count_);
  if (known.composed.with_profile) stack_.layers.push_back(*profile_);
  stack_.layers.push_back(container_layer(attempt.code));
  record.mismatch = std::move(known.composed.mismatch);
  record.cached = true;
  kept_sha256_ = std::move(known.program_sha256);
  return std::move(known.program);
}

Result<program::VerifiedProgram> Plan::merged_program(const install::Attempt& attempt, Record& record) {
  Ingredients made_of = ingredients(Ingredients::Kind::merged);
  made_of.container = attempt.code;
  made_of.flags = attempt.flags;
  std::string inputs = inputs_text(made_of);
  std::optional<Compositions::Known> known = compositions_.recall(inputs);
  if (known && (profile_ || !known->composed.with_profile)) return take_known(std::move(*known), attempt, record);
  TRY_ASSIGN(program::VerifiedProgram program, compose_anew(attempt, record));
  const bool with_profile = stack_.layers.size() == host_count_ + 2;
  compositions_.remember(std::move(inputs), {with_profile, record.mismatch}, program);
  return program;
}

// Bytes hashed again at the swap, of a program that comes from a receipt.
Result<void> Plan::still_as_kept(const Record& record) const {
  if (kept_sha256_.empty() || record.program_sha256 == kept_sha256_) return {};
  return failure(Errc::refused, "the program is not the one that was kept");
}

void Plan::describe(const program::VerifiedProgram& program, Record& record) const {
  if (input_.prepared) record.layers = input_.prepared->layers;
  for (const CompiledLayer& layer : std::span(stack_.layers).subspan(input_.prepared ? 1 : 0))
    record.layers.push_back({layer.name, layer.filters.size(), instructions_of(layer)});
  for (const LayerRecord& layer : record.layers) {
    record.filters_before += layer.filters;
    record.instructions_before += layer.instructions;
  }
  record.host_layers = input_.settings.layers_for(input_.config.annotations);
  record.inputs_sha256 = content_hash(files_.inputs());
  record.systemd = systemd_;
  record.filters_after = 1;
  record.instructions_after = program.code().size();
  record.program_sha256 = sha256(program::to_bytes(program.view()));
}

// Nothing of the container's: the program was proved in the hook. The call that waits runs under it as the first one.
Result<void> Plan::compose_host(const install::Attempt& attempt, Record& record, install::Decision& decision) {
  std::uint32_t somewhere = 0;
  for (const std::uint32_t flags : host_flags_) somewhere |= flags;
  decision.flags = merge_flags(somewhere, host_flags_, record.notes);
  record.flags = decision.flags;
  record.unmet_needs = predicted_unmet_;
  record.cached = predicted_known_;
  describe(*predicted_, record);
  TRY(still_as_kept(record));
  const abi::SeccompData call = data_of(attempt.call);
  const abi::Verdict verdict = program::interpret(predicted_->view(), call);
  const std::string who = who_decides(call, stack_.layers);
  decision.program.emplace(std::move(*predicted_));
  if (abi::meets(abi::Need::answered, verdict) || input_.settings.mode == bundle::Mode::observe) return {};
  return failure(Errc::refused, "the container could not start: " + who + " answers " + abi::to_string(verdict) +
                                    " to " + abi::call_text(call));
}

// Than what the runtime was about to install.
Result<void> Plan::not_looser(program::CodeView program) {
  const CompiledLayer& container = stack_.layers.back();
  TRY_ASSIGN(const diagram::Node node, raise::raise(program, *stack_.store));
  const merge::Comparison found = merge::compare(*stack_.store, node, container.node);
  TRY(stack_.store->status());
  bool looser = found.left_looser.has_value();
  if (!looser && found.undecided) {
    const std::vector<program::Code> merged{program::Code(program.begin(), program.end())};
    const auto is_looser = [](abi::Verdict own, abi::Verdict one) { return merge::looser(one, own); };
    const verify::Finding exists = verify::find(merged, container.filters, is_looser, options_.verify);
    looser = !std::holds_alternative<verify::NoSuchInput>(exists);
  }
  if (looser) return failure(Errc::refused, "the merged program would be looser than the runtime's own");
  return {};
}

Result<void> Plan::compose(const install::Attempt& attempt, Record& record, install::Decision& decision) {
  TRY(still_prepared());
  if (attempt.kind == install::CallKind::other) return compose_host(attempt, record, decision);
  TRY_ASSIGN(program::VerifiedProgram program, merged_program(attempt, record));
  if (input_.flags_fixed) {
    TRY_ASSIGN(decision.flags,
               fixed_flags(attempt.flags, host_flags_, install::filters_change_speculation, record.notes));
  } else {
    decision.flags = merge_flags(attempt.flags, host_flags_, record.notes);
  }
  record.flags = decision.flags;
  describe(program, record);
  TRY(still_as_kept(record));
  record.unmet_needs = unmet(program.view());
  decision.program.emplace(std::move(program));
  if (!record.unmet_needs.empty() && input_.settings.mode == bundle::Mode::enforce)
    return failure(Errc::refused, record.unmet_needs.front());
  return {};
}

install::Decision Plan::decide(const install::Attempt& attempt, Record& record) {
  install::Decision decision;
  const Result<void> composed = compose(attempt, record, decision);
  decision.kind = install::Decision::Kind::install;
  if (!composed) {
    decision.why = to_string(composed.error());
    record.cause = decision.why;
    decision.kind = input_.settings.on_failure == bundle::OnFailure::runtime_profile
                        ? install::Decision::Kind::let_through
                        : install::Decision::Kind::refuse;
  }
  if (input_.settings.mode == bundle::Mode::observe) decision.kind = install::Decision::Kind::let_through;
  return decision;
}

}  // namespace seccompress::hooks
