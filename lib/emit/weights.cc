// SPDX-License-Identifier: Apache-2.0
// Input: a table of call names and weights. Output: Weights. Entries: Weights::parse, of, of_range.
#include "emit/weights.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "abi/syscalls.h"

namespace seccompress::emit {
namespace {

constexpr std::uint32_t kNumbers = 512;  // where architectures keep their calls
constexpr double kUniform = 1.0;         // without a table
constexpr double kFloor = 0.01;          // with one, for calls that it does not name

std::vector<std::string_view> split_fields(std::string_view line) {
  std::vector<std::string_view> fields;
  while (!line.empty()) {
    const std::size_t start = line.find_first_not_of(" \t\r");
    if (start == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t\r", start), line.size());
    fields.push_back(line.substr(start, end - start));
    line.remove_prefix(end);
  }
  return fields;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0) || value > 1e15) return std::nullopt;
  return value;
}

// "NAME WEIGHT", or a row of strace -c: "% seconds usecs calls [errors] name".
std::optional<std::pair<std::string_view, double>> row(const std::vector<std::string_view>& fields) {
  if (fields.size() == 2) {
    if (const auto weight = number(fields[1])) return std::pair(fields[0], *weight);
  } else if (fields.size() == 5 || fields.size() == 6) {
    if (const auto calls = number(fields[3]); calls && number(fields[0])) return std::pair(fields.back(), *calls);
  }
  return std::nullopt;
}

// Rules and titles of strace's table.
bool is_decoration(const std::vector<std::string_view>& fields) {
  return fields.empty() || fields[0].starts_with('#') || fields[0].starts_with("---") || fields[0] == "%" ||
         fields.back() == "total";
}

std::uint32_t overlap(std::uint32_t first, std::uint32_t last, std::uint32_t base) {
  const std::uint32_t low = std::max(first, base), high = std::min(last, base + kNumbers - 1);
  return low > high ? 0 : high - low + 1;
}

}  // namespace

Result<Weights> Weights::parse(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  Weights weights;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string_view> fields = split_fields(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (is_decoration(fields)) continue;
    const auto parsed = row(fields);
    if (!parsed) {
      diagnostics.error("weights-row", {file, line, 0, {}}, "not a row NAME WEIGHT nor one of strace -c");
      continue;
    }
    if (!abi::is_syscall_name(parsed->first)) {
      diagnostics.warning("unknown-syscall", {file, line, 0, {}}, "unknown system call " + std::string(parsed->first));
      continue;
    }
    for (const abi::ArchFacts& arch : abi::all_arches())
      if (const auto nr = abi::syscall_number(arch.arch, parsed->first))
        weights.weights_[{arch.audit, *nr}] += parsed->second;
  }
  if (diagnostics.has_errors()) return reported();
  return weights;
}

double Weights::of(std::uint32_t audit_arch, std::uint32_t nr) const {
  if (weights_.empty()) return kUniform;
  const auto found = weights_.find({audit_arch, nr});
  return found == weights_.end() ? kFloor : std::max(found->second, kFloor);
}

double Weights::of_range(std::uint32_t audit_arch, std::uint32_t first, std::uint32_t last) const {
  const double each = weights_.empty() ? kUniform : kFloor;
  double sum = each * (overlap(first, last, 0) + 0.01 * overlap(first, last, abi::kX32Bit));
  for (auto at = weights_.lower_bound({audit_arch, first}); at != weights_.end(); ++at) {
    if (at->first.first != audit_arch || at->first.second > last) break;
    sum += at->second;
  }
  return sum;
}

}  // namespace seccompress::emit
