// SPDX-License-Identifier: Apache-2.0
// What the programs of a stack answer in a cell, newest first, as one number: equal numbers need one proof.
#pragma once

#include <cstdint>
#include <vector>

#include "abi/verdict.h"
#include "verify/hash_index.h"
#include "verify/walk.h"

namespace seccompress::verify {

// The rest of a program that a cell's verdict depends on.
struct Residue {
  std::uint32_t subject;
  std::uint32_t pc;
  Held held;
};

// One program's answer: a normalized verdict, or a residue by number.
struct Item {
  bool constant;
  std::uint32_t value;
  bool operator==(const Item&) const = default;
};

class Residues {
 public:
  Item file(const Residue& residue);
  const Residue& operator[](std::uint32_t number) const { return all_[number]; }

 private:
  std::vector<Residue> all_;
  HashIndex index_;
};

// Sequences of items, hash-consed. Items that cannot change the verdict are left out: a constant that is no
// stricter than a newer constant, and a newer constant in front of a stricter one.
class Sequences {
 public:
  using Number = std::uint32_t;
  static constexpr Number kEmpty = 0;  // nothing below ALLOW, the kernel's start value

  Sequences();
  Number append(Number sequence, Item older);

  // The verdict when all items are constants.
  bool is_constant(Number sequence) const { return links_[sequence].residues == 0; }
  abi::Verdict verdict(Number sequence) const;
  std::vector<Item> newest_first(Number sequence) const;

 private:
  struct Link {
    Number previous;
    Item item;
    std::int32_t floor;  // strictness of the strictest constant so far
    std::uint32_t residues;
  };
  Number find(const Link& link);

  std::vector<Link> links_;
  HashIndex index_;
};

}  // namespace seccompress::verify
