// The kernels that go with what steps play: an algorithm that the user names gets its own time in every rung.
//
// Where nobody names an algorithm the library's choice is played, in steps and by kernels alike. An algorithm of steps
// that no kernel plays (hierarchical, halving_doubling, ...) has none: its messages are all that is known of it.
#pragma once

#include <string>
#include <vector>

#include "collectives/chooser.h"
#include "collectives/nccl/tuner.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {

class ChosenKernels final : public ChannelChooser {
 public:
  // References outlive this. `sums`: whether the network's switches add up. `fixed`: the user's plan for all calls,
  // of which protocol and channels are taken; null: by NCCL's cost model.
  struct Inputs {
    const ChannelChooser& library;
    const SimpleChooser& steps;
    const NcclTuner& nccl;
    bool network_sums = false;
    bool played = false;  // kernels are what is played, and the library's play what the user does not name
    const CollectivePlan* fixed = nullptr;
  };
  explicit ChosenKernels(const Inputs& inputs) : inputs_(inputs) {}

  // No algorithm in it: no kernel plays what the user named.
  [[nodiscard]] ChannelChoice choose(const CollectiveCall& call) const override;
  [[nodiscard]] ChannelChoice choose_message(const MessageCall& call) const override {
    return inputs_.library.choose_message(call);
  }

 private:
  [[nodiscard]] ChannelChoice kernel_for(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) const;

  Inputs inputs_;
};

// Algorithms of steps that some kernel plays in this call on any network, as a user names them.
[[nodiscard]] std::vector<std::string> algorithms_with_kernels(const CollectiveCall& call);

}  // namespace ringwright::collectives
