// Pipeline parallelism: activations go to the stage with the next model chunk, their gradients back.
//
// A message has 2bsh bytes, 1/tp of it with sequence parallelism, or with the scatter-gather optimisation of Narayanan
// et al. (SC 2021, section 4.1), which gathers the pieces within the tensor-parallel group of the receiver.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "workload/parallel/tensor.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

struct PipelineStreams {
  CommStream forward;
  CommStream backward;
};

class PipelineParallel {
 public:
  // No streams: pp is 1, no communication.
  PipelineParallel(const KernelContext& context, const ParallelOptions& parallel, int stage,
                   std::optional<PipelineStreams> channels);

  // Before a pass: its input from the previous (forward) or next (backward) model chunk, unless it starts here. Weight
  // gradients need no communication.
  void receive(ProgramWriter& writer, TensorParallel& tensor, const Slot& slot) const;
  void send(ProgramWriter& writer, const Slot& slot) const;

 private:
  // The stage to exchange a message with; none at the ends of the model, or if the next chunk is on this stage.
  [[nodiscard]] std::optional<int> peer(const Slot& slot, int step) const {
    if (!channels_ || slot.pass == Pass::kWeightGradient) return std::nullopt;
    return (step > 0 ? after_ : before_)[static_cast<std::size_t>(slot.chunk)];
  }
  [[nodiscard]] MessageSpec message(Pass pass, int peer) const;
  // Messages carry 1/tp of an activation, or of its gradient, that the receiver gathers.
  [[nodiscard]] bool is_scattered(Pass pass) const;

  const ParallelOptions& parallel_;
  std::optional<PipelineStreams> channels_;
  std::vector<std::optional<int>> before_;  // by chunk: the stage of the previous one in the model, if it is another
  std::vector<std::optional<int>> after_;   // of the next one
  std::int64_t tp_ = 1;  // if such messages can be split
  Bytes bytes_;          // of a whole activation, as stored on a rank
};

}  // namespace ringwright::workload
