// SPDX-License-Identifier: Apache-2.0
#include "containers.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "abi/verdict.h"
#include "inputs.h"
#include "prepared.h"

namespace seccompress::cmd {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

const char* oci_operator(policy::Operator op) {
  switch (op) {
    case policy::Operator::ne: return "SCMP_CMP_NE";
    case policy::Operator::lt: return "SCMP_CMP_LT";
    case policy::Operator::le: return "SCMP_CMP_LE";
    case policy::Operator::eq: return "SCMP_CMP_EQ";
    case policy::Operator::ge: return "SCMP_CMP_GE";
    case policy::Operator::gt: return "SCMP_CMP_GT";
    case policy::Operator::masked_eq: return "SCMP_CMP_MASKED_EQ";
  }
  return "";
}

std::string oci_action(abi::Verdict verdict) {
  return std::string(abi::oci_name(abi::action_of(verdict).value_or(abi::Action::kill_process)));
}

Json oci_rule(const policy::Rule& rule) {
  Json entry{{"names", rule.names}, {"action", oci_action(rule.verdict)}};
  if (abi::action_word(rule.verdict) == abi::kErrno) entry["errnoRet"] = abi::data(rule.verdict);
  for (const policy::Condition& condition : rule.all_of)
    entry["args"].push_back({{"index", condition.index},
                             {"value", condition.value},
                             {"valueTwo", condition.value_two},
                             {"op", oci_operator(condition.op)}});
  return entry;
}

Result<std::string> find_hook(const BenchContext& context) {
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  const std::array<fs::path, 3> places = {context.hook, self.parent_path() / "../../hooks/seccompress-hook",
                                          self.parent_path() / "../libexec/seccompress/seccompress-hook"};
  for (const fs::path& place : places)
    if (!place.empty() && ::access(place.c_str(), X_OK) == 0) return place.string();
  return failure(Errc::refused, "no seccompress-hook beside this program; name it with --hook");
}

}  // namespace

Result<std::string> container_seccomp(Session& session) {
  TRY_ASSIGN(const policy::Policy policy, container_policy(session.options()));
  Json seccomp{{"defaultAction", oci_action(policy.default_verdict)}};
  if (abi::action_word(policy.default_verdict) == abi::kErrno)
    seccomp["defaultErrnoRet"] = abi::data(policy.default_verdict);
  for (const abi::Arch arch : policy.architectures) seccomp["architectures"].push_back(abi::facts(arch).oci);
  for (const policy::Rule& rule : policy.rules) seccomp["syscalls"].push_back(oci_rule(rule));
  return seccomp.dump();
}

Result<GroundHook> put_hook(bench::ContainerGround& ground, const BenchContext& context, const std::string& name,
                            const std::vector<std::string>& layers) {
  TRY_ASSIGN(const std::string source, find_hook(context));
  GroundHook hook;
  hook.log = ground.folder() + '/' + name + "/log";
  TRY_ASSIGN(hook.program, ground.copy(source, name + "/seccompress-hook"));
  hook.receipts = ground.folder() + '/' + name + "/receipts";
  std::string text = "version: 1\nexec: accept\nlog: " + hook.log + "\nhost_layers:\n";
  for (const std::string& layer : layers) text += "  - " + layer + '\n';
  TRY_ASSIGN(hook.settings, ground.write(name + "/config.yaml", text));
  return hook;
}

Result<void> prepare_hook(const GroundHook& hook) {
  if (::mkdir(hook.receipts.c_str(), 0700) != 0) return errno_failure(hook.receipts);
  Diagnostics diagnostics;
  TRY(hooks::prepare(hook.settings, receipt::Cache(hook.receipts), diagnostics));
  return {};
}

Result<std::string> put_filters(bench::ContainerGround& ground, const std::string& name,
                                const std::vector<program::Code>& filters) {
  for (std::size_t i = 0; i < filters.size(); ++i) {
    TRY_ASSIGN(const std::string path,
               ground.write(fmt::format("{}/{:02}.bpf", name, i), program::to_bytes(filters[i])));
  }
  return ground.folder() + '/' + name;
}

}  // namespace seccompress::cmd
