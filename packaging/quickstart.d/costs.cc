// SPDX-License-Identifier: Apache-2.0
// Input: filters and a table of concrete calls. Output: mean instructions executed per call.
#include <cstdlib>
#include <sstream>

#include "abi/arch.h"
#include "abi/syscalls.h"
#include "report.h"
#include "support/file.h"

namespace seccompress::quickstart {
namespace {

constexpr std::size_t kMaxTableBytes = std::size_t{1} << 20;

// "NAME\tARGUMENT ARGUMENT ...\tWEIGHT"
Result<Call> parse_row(const std::string& row, const std::string& path) {
  const std::size_t first = row.find('\t'), second = row.find('\t', first + 1);
  if (first == std::string::npos || second == std::string::npos)
    return failure(Errc::malformed, path + ": not NAME, arguments, WEIGHT: " + row);
  Call call{row.substr(0, first), {}, std::strtod(row.c_str() + second, nullptr)};
  const auto number = abi::syscall_number(abi::Arch::x86_64, call.name);
  if (!number) return failure(Errc::malformed, path + ": unknown call " + call.name);
  call.data.nr = static_cast<int>(*number);
  call.data.arch = abi::facts(abi::Arch::x86_64).audit;
  std::istringstream arguments(row.substr(first + 1, second - first - 1));
  std::string argument;
  for (int i = 0; i < 6 && arguments >> argument; ++i) call.data.args[i] = std::strtoull(argument.c_str(), nullptr, 0);
  return call;
}

bool is_cached(const Filters& filters, const Call& call) {
  for (const program::Code& code : filters)
    if (!program::is_constant_allow(code, call.data.arch, static_cast<std::uint32_t>(call.data.nr))) return false;
  return true;
}

}  // namespace

Result<std::vector<Call>> read_calls(const std::string& path) {
  TRY_ASSIGN(const std::string text, read_file(path, kMaxTableBytes));
  std::vector<Call> calls;
  std::istringstream rows(text);
  std::string row;
  while (std::getline(rows, row)) {
    if (row.empty() || row[0] == '#') continue;
    TRY_ASSIGN(Call call, parse_row(row, path));
    calls.push_back(std::move(call));
  }
  return calls;
}

Executed executed(const Filters& filters, const std::vector<Call>& calls, const std::string& name) {
  Executed sum;
  double weight = 0;
  for (const Call& call : calls) {
    if (!name.empty() && call.name != name) continue;
    weight += call.weight;
    if (is_cached(filters, call)) continue;
    const program::Run run = program::run_stack(filters, call.data);
    sum.converted += call.weight * run.executed_converted;
    sum.classic += call.weight * run.executed;
  }
  return weight > 0 ? Executed{sum.converted / weight, sum.classic / weight} : Executed{};
}

}  // namespace seccompress::quickstart
