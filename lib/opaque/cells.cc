// SPDX-License-Identifier: Apache-2.0
// Input: code. Output: the cuts of the (arch, nr) plane that its tests make. Entry: plane_of.
// Method: constant propagation over the whole plane says where A holds nr or arch. A test with a mask cuts where the
// mask's lowest bit changes, if that is seldom.
#include "opaque/cells.h"

#include <algorithm>
#include <bit>
#include <set>

namespace seccompress::opaque {
namespace {

constexpr std::uint64_t kMaxWork = std::uint64_t{1} << 23;  // cells times instructions
constexpr std::uint32_t kMaxBlocks = 64;                    // that a mask may cut a word into

using Cuts = std::set<std::uint32_t>;  // the first values of intervals, 0 not among them

void cut_before(Cuts& cuts, std::uint64_t value) {
  if (value != 0 && value <= 0xffffffffU) cuts.insert(static_cast<std::uint32_t>(value));
}

void cut_by_mask(Cuts& cuts, std::uint32_t mask) {
  if (mask == 0) return;
  const std::uint64_t block = std::uint64_t{1} << static_cast<unsigned>(std::countr_zero(mask));
  if ((std::uint64_t{1} << 32U) / block > kMaxBlocks) return;
  for (std::uint64_t first = block; first <= 0xffffffffU; first += block) cut_before(cuts, first);
}

void cut_by_test(Cuts& cuts, const program::Instruction& insn, std::uint32_t mask) {
  if (BPF_OP(insn.code) == BPF_JSET) return cut_by_mask(cuts, mask & insn.k);
  if (mask != 0xffffffffU) return cut_by_mask(cuts, mask);
  if (BPF_OP(insn.code) != BPF_JGT) cut_before(cuts, insn.k);
  if (BPF_OP(insn.code) != BPF_JGE) cut_before(cuts, std::uint64_t{insn.k} + 1);
}

std::vector<Interval> intervals(const Cuts& cuts) {
  std::vector<Interval> found{{}};
  for (const std::uint32_t cut : cuts) {
    found.back().last = cut - 1;
    found.push_back({cut, 0xffffffffU});
  }
  return found;
}

}  // namespace

Plane plane_of(program::CodeView code) {
  const Facts facts(code, {});
  Cuts arch, nr;
  for (std::uint32_t pc = 0; pc < code.size(); ++pc) {
    const program::Instruction& insn = code[pc];
    const bool tests = BPF_CLASS(insn.code) == BPF_JMP && BPF_OP(insn.code) != BPF_JA && BPF_SRC(insn.code) == BPF_K;
    if (!tests || !facts.reached(pc) || facts.a(pc).kind != Known::Kind::word) continue;
    cut_by_test(facts.a(pc).word == abi::kNr ? nr : arch, insn, facts.a(pc).data);
  }
  Plane plane{intervals(arch), intervals(nr)};
  if (plane.arch.size() * plane.nr.size() * code.size() > kMaxWork) plane = {{{}}, {{}}};
  return plane;
}

}  // namespace seccompress::opaque
