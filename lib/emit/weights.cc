// SPDX-License-Identifier: Apache-2.0
// Input: a table of call names and weights. Output: Weights. Entries: Weights::parse, built_in,
// numbers; NumberWeights::of_range.
#include "emit/weights.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "abi/syscalls.h"

namespace seccompress::emit {
namespace {

constexpr std::uint32_t kNumbers = 512;  // where architectures keep their calls
constexpr double kFloor = 2e-5;          // of a table's sum, for each call that it does not name
constexpr double kX32Share = 0.01;       // of a number's floor

constexpr std::string_view kDefaultTable =
#include "default_weights.inc"
    ;

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

// Rows of a table; what is wrong goes to the diagnostics, if there are any to go to.
std::vector<std::pair<abi::SyscallNumbers, double>> read_rows(std::string_view text, const std::string& file,
                                                              Diagnostics* diagnostics) {
  std::vector<std::pair<abi::SyscallNumbers, double>> rows;
  for (int line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::vector<std::string_view> fields = split_fields(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (is_decoration(fields)) continue;
    const auto parsed = row(fields);
    if (parsed) {
      rows.emplace_back(abi::syscall_numbers(parsed->first), parsed->second);
    } else if (diagnostics != nullptr) {
      diagnostics->error("weights-row", {file, line, 0, {}}, "not a row NAME WEIGHT nor one of strace -c");
    }
    if (parsed && diagnostics != nullptr && !abi::is_syscall_name(parsed->first))
      diagnostics->warning("unknown-syscall", {file, line, 0, {}}, "unknown system call " + std::string(parsed->first));
  }
  return rows;
}

std::uint32_t overlap(std::uint32_t first, std::uint32_t last, std::uint32_t base) {
  const std::uint32_t low = std::max(first, base), high = std::min(last, base + kNumbers - 1);
  return low > high ? 0 : high - low + 1;
}

}  // namespace

Result<Weights> Weights::parse(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  Weights weights;
  weights.rows_ = std::make_shared<Rows>(read_rows(text, file, &diagnostics));
  if (diagnostics.has_errors()) return reported();
  return weights;
}

const Weights& Weights::built_in() {
  static const Weights built_in = [] {
    Weights weights;
    weights.rows_ = std::make_shared<Rows>(read_rows(kDefaultTable, "default.tsv", nullptr));
    return weights;
  }();
  return built_in;
}

NumberWeights Weights::numbers(std::uint32_t audit_arch) const {
  std::vector<std::pair<std::uint32_t, double>> by_number;
  for (const abi::ArchFacts& arch : abi::all_arches()) {
    if (arch.audit != audit_arch) continue;
    const double share = arch.arch == abi::Arch::x32 ? kX32Share : 1.0;
    for (const auto& [numbers, weight] : *rows_)
      if (const auto nr = numbers.on(arch.arch)) by_number.emplace_back(*nr, weight * share);
  }
  if (by_number.empty()) return {};
  std::ranges::sort(by_number);
  return NumberWeights(std::move(by_number));
}

NumberWeights::NumberWeights(std::vector<std::pair<std::uint32_t, double>> by_number)
    : by_number_(std::move(by_number)), floor_(0) {
  for (const auto& [nr, weight] : by_number_) floor_ += kFloor * weight;
}

double NumberWeights::of_range(std::uint32_t first, std::uint32_t last) const {
  double sum = floor_ * (overlap(first, last, 0) + kX32Share * overlap(first, last, abi::kX32Bit));
  auto at = std::ranges::lower_bound(by_number_, std::pair(first, 0.0));
  for (; at != by_number_.end() && at->first <= last; ++at) sum += at->second;
  return sum;
}

}  // namespace seccompress::emit
