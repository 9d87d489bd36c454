// SPDX-License-Identifier: Apache-2.0
// What a diagram does with one 64-bit value (an argument, or the instruction pointer): which values lead where, as a
// person writes it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagram/store.h"

namespace seccompress::explain {

inline constexpr unsigned kValues = 7;  // a0..a5, the instruction pointer
inline constexpr unsigned kInstructionPointer = 6;
std::string value_name(unsigned value);         // "a0", ..., "ip"
std::string number_text(std::uint64_t number);  // below 10 in decimal, else in hex
std::uint64_t read_value(const abi::SeccompData& data, unsigned value);
void write_value(abi::SeccompData& data, unsigned value, std::uint64_t number);

// The value that the node tests first; kValues for a terminal. The node must test neither arch nor nr.
unsigned first_value(const diagram::Store& store, diagram::Node node);

// The values that lead to one node which does not test this value.
struct Exit {
  diagram::Node node = 0;
  std::uint64_t smallest = 0;  // the smallest of them
  std::uint64_t count = 0;     // how many
  std::string text;            // "a0 == 0x10", "a2 & 0x6 == 0x2", "a1 in {0, 0x10..0x1f}", "a0 none of these"
};
// Every exit of first_value(node), the one with most values last. `node` is no terminal.
std::vector<Exit> exits_of(const diagram::Store& store, diagram::Node node);

// (arch, nr) fixed: the node that is left.
diagram::Node node_of_call(const diagram::Store& store, diagram::Node root, std::uint32_t arch, std::uint32_t nr);

}  // namespace seccompress::explain
