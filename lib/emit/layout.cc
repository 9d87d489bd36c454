// SPDX-License-Identifier: Apache-2.0
// Input: a graph of operations. Output: code. Entry: layout().
//
// Method: classic BPF only jumps forward, so code is written from its end: an operation is placed after
// (that is, in front of) its successors. The lighter successor of a test is placed last and falls through,
// so its distance is 0 and the other one's is the size of a light part: conditional jumps reach 255, and
// most do. Where one does not, a JA in the fall-through position carries it; a far RET is written again,
// which costs the same instruction and no extra execution.
//
// A test whose two offsets are both non-zero costs one converted instruction more on its false edge
// (net/core/filter.c writes Jcc and JA), and so does JSET with jt == 0. Where that edge is taken often enough,
// a RET that is one of the targets is written again as the fall-through.
//
// Weakness: a shared operation that was placed early may be far away and cost its users a JA.
#include "emit/layout.h"

#include <algorithm>
#include <limits>

#include "support/check.h"

namespace seccompress::emit {
namespace {

constexpr std::uint32_t kReach = 255;          // jt and jf are 8 bits
constexpr double kWorthAnInstruction = 0.001;  // executed instructions saved per run of the program
constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();

class Writer {
 public:
  Writer(const CodeGraph& graph, OpId root)
      : graph_(graph), flow_(graph.flow(root)), place_of_(graph.size(), kNowhere) {}

  Result<program::Code> write(OpId root) {
    place(root);
    if (full_ || reversed_.size() > program::kMaxInstructions)
      return failure(Errc::budget, "the flattened program needs more than 4096 instructions");
    if (distance(root) != 0) jump_to(root);
    std::ranges::reverse(reversed_);
    return std::move(reversed_);
  }

 private:
  bool placed(OpId id) const { return place_of_[id] != kNowhere; }
  // Instructions between the next one written and the operation.
  std::uint32_t distance(OpId id) const { return static_cast<std::uint32_t>(reversed_.size()) - 1 - place_of_[id]; }
  bool is_return(OpId id) const { return BPF_CLASS(graph_.op(id).code) == BPF_RET; }
  bool is_jump(OpId id) const { return BPF_CLASS(graph_.op(id).code) == BPF_JMP; }

  void push(std::uint16_t code, std::uint32_t jt, std::uint32_t jf, std::uint32_t k) {
    CHECK(jt <= kReach && jf <= kReach);
    if (reversed_.size() > program::kMaxInstructions) full_ = true;
    reversed_.push_back({code, static_cast<std::uint8_t>(jt), static_cast<std::uint8_t>(jf), k});
  }
  void push(OpId id, std::uint32_t jt = 0, std::uint32_t jf = 0) {
    push(graph_.op(id).code, jt, jf, graph_.op(id).k);
    place_of_[id] = static_cast<std::uint32_t>(reversed_.size()) - 1;
  }
  void jump_to(OpId id) { push(BPF_JMP | BPF_JA, 0, 0, distance(id)); }

  void place(OpId id) {
    if (placed(id) || full_) return;
    if (is_return(id)) {
      push(id);
    } else if (is_jump(id)) {
      place_jump(id);
    } else {
      place(graph_.op(id).yes);
      if (full_) return;
      bring_next(graph_.op(id).yes);
      push(id);
    }
  }

  // Makes the instruction at distance 0 lead to `id`.
  void bring_next(OpId id) {
    if (distance(id) == 0) return;
    if (is_return(id))
      push(id);
    else
      jump_to(id);
  }

  void place_jump(OpId id) {
    const Op op = graph_.op(id);
    const bool yes_is_near = near_is_yes(op);
    const OpId near = yes_is_near ? op.yes : op.no, far = yes_is_near ? op.no : op.yes;
    place(far);
    place(near);
    if (full_) return;
    if (copy_for_fall_through(id, op)) return;
    std::uint32_t near_offset = distance(near), far_offset = distance(far);
    if (near_offset > kReach) {  // placed long ago
      bring_next(near);
      near_offset = 0;
      far_offset = distance(far);
    }
    if (far_offset > kReach) {
      bring_next(far);
      far_offset = 0;
      ++near_offset;
    }
    if (near_offset > kReach) {  // it was at 255 exactly and the far one's JA moved it on
      bring_next(near);
      near_offset = 0;
      ++far_offset;
    }
    push(id, yes_is_near ? near_offset : far_offset, yes_is_near ? far_offset : near_offset);
  }

  // Writes a RET again in front of everything and lets the test fall through to it.
  bool copy_for_fall_through(OpId id, const Op& op) {
    const bool falls_through = distance(op.no) == 0 || (distance(op.yes) == 0 && BPF_OP(op.code) != BPF_JSET);
    if (falls_through || flow_[id] * (1.0 - graph_.yes_share(id)) < kWorthAnInstruction) return false;
    if (is_return(op.no) && distance(op.yes) < kReach) {
      push(op.no);
      push(id, distance(op.yes), 0);
      return true;
    }
    if (is_return(op.yes) && BPF_OP(op.code) != BPF_JSET && distance(op.no) < kReach) {
      push(op.yes);
      push(id, 0, distance(op.no));
      return true;
    }
    return false;
  }

  // Which successor falls through? One that is placed already cannot; else the lighter one. JSET's true
  // edge costs an extra converted instruction when it falls through (net/core/filter.c inverts only
  // JEQ, JGT and JGE), so there the false edge does unless it is much heavier.
  bool near_is_yes(const Op& op) const {
    if (placed(op.yes) != placed(op.no)) return placed(op.no);
    if (BPF_OP(op.code) == BPF_JSET && graph_.weight(op.no) <= kReach) return false;
    return graph_.weight(op.yes) <= graph_.weight(op.no);
  }

  const CodeGraph& graph_;
  std::vector<double> flow_;
  std::vector<std::uint32_t> place_of_;
  program::Code reversed_;
  bool full_ = false;
};

}  // namespace

Result<program::Code> layout(const CodeGraph& graph, OpId root) { return Writer(graph, root).write(root); }

}  // namespace seccompress::emit
