// The largest power of two of a group's members, and how the others are folded into it (Thakur, Rabenseifner and Gropp,
// "Optimization of collective communication operations in MPICH", IJHPCA 2005, section 4.5).
#pragma once

#include <bit>

#include "core/plan/collective_call.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

// Members take part under a number of the power-of-two core; -1 for folded members.
struct PowerCore {
  int levels = 0;
  int size = 1;
  int excess = 0;

  explicit PowerCore(int members)
      : levels(static_cast<int>(std::bit_width(static_cast<unsigned>(members))) - 1),
        size(1 << levels),
        excess(members - size) {}

  // The first 2 * excess members form pairs; the even one of a pair is folded into the odd one.
  [[nodiscard]] bool paired(int member) const { return member < 2 * excess; }
  [[nodiscard]] int number(int member) const {
    if (!paired(member)) return member - excess;
    return member % 2 == 1 ? member / 2 : -1;
  }
  [[nodiscard]] int member(int number) const { return number < excess ? 2 * number + 1 : number + excess; }
};

enum class FoldStep { kIn, kBack };

// The folded member sends in all its data, or receives the result.
inline void exchange_in_pair(const CollectiveCall& call, int member, FoldStep step, CollectiveStep& out) {
  const bool folded = member % 2 == 0;
  const int partner = folded ? member + 1 : member - 1;
  const bool sends = folded == (step == FoldStep::kIn);
  if (sends) out.sends.push_back({.peer = partner, .size = call.bytes});
  if (!sends) out.awaits.push_back({.peer = partner, .send = 0});
}

}  // namespace ringwright::collectives
