// SPDX-License-Identifier: Apache-2.0
// Input: YAML text. Output: yes or one diagnostic. Entry point: check_yaml.
// Method: yaml-cpp's event interface, which builds nothing; the first fault leaves it by exception, caught here.
// The guard runs over the same bytes as the parser that builds the tree later.
#include "bundle/yaml_guard.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <sstream>

namespace seccompress::bundle {
namespace {

struct Refused {
  YAML::Mark mark;
  std::string what;
};

class Guard final : public YAML::EventHandler {
 public:
  Guard(std::size_t max_depth, std::size_t max_events) : max_depth_(max_depth), left_(max_events) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ > 1) throw Refused{mark, "a second document"};
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override { node(mark, "", anchor); }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override { throw Refused{mark, "an alias"}; }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, const std::string&) override {
    node(mark, tag, anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    deeper(mark, tag, anchor);
  }
  void OnSequenceEnd() override { --depth_; }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    deeper(mark, tag, anchor);
  }
  void OnMapEnd() override { --depth_; }

 private:
  // yaml-cpp gives "?" to plain and "!" to quoted nodes that have no tag of their own.
  void node(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    if (anchor != 0) throw Refused{mark, "an anchor"};
    if (!tag.empty() && tag != "?" && tag != "!") throw Refused{mark, "a tag"};
    if (left_-- == 0) throw Refused{mark, "too many values"};
  }
  void deeper(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor) {
    node(mark, tag, anchor);
    if (++depth_ > max_depth_) throw Refused{mark, "nesting deeper than " + std::to_string(max_depth_)};
  }

  std::size_t max_depth_, left_, depth_ = 0;
  int documents_ = 0;
};

Location place(const std::string& file, const YAML::Mark& mark) {
  return {.file = file, .line = mark.line + 1, .column = mark.column + 1, .pointer = {}};
}

}  // namespace

bool check_yaml(const std::string& text, const std::string& file, std::size_t max_depth, std::size_t max_events,
                Diagnostics& diagnostics) {
  try {
    std::istringstream input(text);
    YAML::Parser parser(input);
    Guard guard(max_depth, max_events);
    while (parser.HandleNextDocument(guard)) {
    }
    return true;
  } catch (const Refused& refused) {
    diagnostics.error("yaml-refused", place(file, refused.mark), refused.what + " is not accepted here");
  } catch (const YAML::Exception& error) {
    diagnostics.error("yaml-syntax", place(file, error.mark), error.msg);
  } catch (const std::exception& error) {
    diagnostics.error("yaml-syntax", {.file = file, .line = 0, .column = 0, .pointer = {}}, error.what());
  }
  return false;
}

}  // namespace seccompress::bundle
