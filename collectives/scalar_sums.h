// Sums of one number, as of a gradient's norm: the members leave together.
//
// In a tree, or with one head in a switch, every member of an all-reduce has another role, so that ranks that are equal
// in everything else would have to be simulated one by one. A sum of a few bytes takes no time on links; until it is
// known nobody can go on. Where the time of its kernels is known (CallOverhead), it is therefore one step without
// messages in which all wait for all: a member ends when the last one has joined and that time has passed. The members
// that would leave the tree first, by less than the time of the call, leave with the last.
#pragma once

#include "collectives/chooser.h"
#include "core/ports/channel_algorithm.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

// At most: one number of the widest type.
inline constexpr Bytes kScalar{8};

class ScalarSums final : public CollectiveChooser {
 public:
  // Both outlive this. Calls that no kernel implements, and those whose algorithm the user names, are as `others`
  // has them.
  ScalarSums(const SimpleChooser& others, const ChannelChooser& kernels) : others_(others), kernels_(kernels) {}

  [[nodiscard]] const CollectiveAlgorithm& choose(const CollectiveCall& call) const override;

 private:
  const SimpleChooser& others_;
  const ChannelChooser& kernels_;
};

}  // namespace ringwright::collectives
