// The kernels that correspond to an algorithm of steps: an algorithm that the user names gets its own time in every
// rung.
//
// Where the user names no algorithm, both steps and kernels use the library's choice. An algorithm of steps without a
// kernel implementation (hierarchical, halving_doubling, ...) has no kernels: only its messages are modelled.
#pragma once

#include <string>
#include <vector>

#include "collectives/chooser.h"
#include "collectives/nccl/tuner.h"
#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {

class ChosenKernels final : public ChannelChooser {
 public:
  // References outlive this. `sums`: whether the network switches reduce. `fixed`: the user's plan for all calls, whose
  // protocol and channels are used; null: by NCCL's cost model.
  struct Inputs {
    const ChannelChooser& library;
    const SimpleChooser& steps;
    const NcclTuner& nccl;
    bool network_sums = false;
    bool played = false;  // kernels are simulated, and the library's choice runs where the user names none
    const CollectivePlan* fixed = nullptr;
  };
  explicit ChosenKernels(const Inputs& inputs) : inputs_(inputs) {}

  // No algorithm in it: no kernel implements the user's choice.
  [[nodiscard]] ChannelChoice choose(const CollectiveCall& call) const override;
  [[nodiscard]] ChannelChoice choose_message(const MessageCall& call) const override {
    return inputs_.library.choose_message(call);
  }

 private:
  [[nodiscard]] ChannelChoice kernel_for(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) const;

  Inputs inputs_;
};

// Algorithms of steps that some kernel implements for this call on any network, as a user names them.
[[nodiscard]] std::vector<std::string> algorithms_with_kernels(const CollectiveCall& call);

}  // namespace ringwright::collectives
