// What a library's software adds to a call in addition to its messages: copies to host memory and back, and the cycles
// of Horovod's background thread.
//
// Staged in host memory, a call takes S_in / B + S_out / B longer, where B is the rate of a GPU's copies. With Horovod
// an all-reduce of gradients waits half a cycle on average, until all ranks have agreed that it is ready (2 log2 n
// messages with the response cache; n - 1 messages to rank 0 and as many back without), and is copied into the fusion
// buffer and back at the rate of the GPU's memory.
#pragma once

#include "collectives/chooser.h"
#include "collectives/libraries/profile.h"
#include "core/base/units.h"
#include "core/ports/call_overhead.h"

namespace ringwright::collectives {

class LibraryCalls final : public CallOverhead {
 public:
  // References outlive this.
  struct Inputs {
    const LibrarySettings& library;
    const SimpleChooser& chooser;
    StepCosts costs;       // of messages between two ranks; those of collectives are paid step by step
    Bandwidth host_copy;   // of one GPU, one direction
    Bandwidth gpu_memory;  // of one GPU
    const CallOverhead* kernels = nullptr;  // that comes on top; null: none
  };
  explicit LibraryCalls(const Inputs& inputs) : inputs_(inputs) {}

  // Whether the library adds anything to calls.
  [[nodiscard]] static bool counts(const LibrarySettings& library);

  [[nodiscard]] Duration of(const CollectiveCall& call) const override;
  [[nodiscard]] Duration of(const MessageBetween& message) const override;

 private:
  [[nodiscard]] Duration staging(const CollectiveCall& call) const;
  [[nodiscard]] Duration cycle(const CollectiveCall& call) const;

  Inputs inputs_;
};

}  // namespace ringwright::collectives
