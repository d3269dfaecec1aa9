// Pipeline parallelism: activations go to the stage with the next model chunk, their gradients back.
//
// A message has 2bsh bytes, 1/tp of it with sequence parallelism, or with the scatter-gather optimisation of Narayanan
// et al. (SC 2021, section 4.1), which gathers the pieces within the tensor-parallel group of the receiver. Between
// stages with different ranks it is divided into messages of what two ranks have in common
// (workload/layout/stage_meshes.h).
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "workload/parallel/tensor.h"
#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// Messages of a microbatch that go to different ranks are concurrent: the i-th uses the i-th stream.
struct PipelineStreams {
  std::vector<CommStream> forward;
  std::vector<CommStream> backward;
};

// Messages of a rank whose neighbouring stages have other ranks than its own: `peer` is an index in the pipeline group.
struct PipelineMessage {
  int peer = 0;
  Bytes bytes;
  friend bool operator==(const PipelineMessage&, const PipelineMessage&) = default;
};
struct PipelineEnds {
  std::vector<PipelineMessage> before;  // with the previous stage
  std::vector<PipelineMessage> after;   // with the next one
  friend bool operator==(const PipelineEnds&, const PipelineEnds&) = default;
};

class PipelineParallel {
 public:
  // No streams: pp is 1, no communication. No ends: all stages have as many ranks, and an activation is one message.
  PipelineParallel(const KernelContext& context, const ParallelOptions& parallel, int stage,
                   std::optional<PipelineStreams> channels, const PipelineEnds* ends);

  // Before a pass: its input from the previous (forward) or next (backward) model chunk, unless it starts here. Weight
  // gradients need no communication.
  void receive(ProgramWriter& writer, TensorParallel& tensor, const Slot& slot);
  void send(ProgramWriter& writer, const Slot& slot);

 private:
  // Exchanged with the stage of the next model chunk, or with `step` -1 the previous one; none at the ends of the
  // model, or if that chunk is on this stage.
  [[nodiscard]] std::span<const PipelineMessage> messages(const Slot& slot, int step) const;
  // The same, or those that it receives (`step` against its direction), as the writer's tables have them; looked up
  // once for all microbatches.
  enum class End { kReceives, kSends };
  using KnownMessages = std::vector<ProgramWriter::KnownMessage>;
  [[nodiscard]] const KnownMessages& known_messages(ProgramWriter& writer, const Slot& slot, End end) {
    std::optional<KnownMessages>& known = known_[place_of(slot, end)];
    if (!known) known = look_up(writer, slot, end);
    return *known;
  }
  [[nodiscard]] static std::size_t place_of(const Slot& slot, End end) {
    const std::size_t pass = static_cast<std::size_t>(slot.chunk) * kPasses + static_cast<std::size_t>(slot.pass);
    return 2 * pass + (end == End::kSends ? 1 : 0);
  }
  static constexpr std::size_t kPasses = 4;
  [[nodiscard]] KnownMessages look_up(ProgramWriter& writer, const Slot& slot, End end) const;
  // Their streams.
  [[nodiscard]] const std::vector<CommStream>& channels(const Slot& slot) const;
  // Messages carry 1/tp of an activation, or of its gradient, that the receiver gathers.
  [[nodiscard]] bool is_scattered(Pass pass) const;

  const ParallelOptions& parallel_;
  std::optional<PipelineStreams> channels_;
  const PipelineEnds* ends_;
  // Of one chunk: its message with the previous chunk in the model, or with the next one, if that is on another stage.
  struct ChunkEnds {
    std::vector<PipelineMessage> before;
    std::vector<PipelineMessage> after;
  };
  std::vector<ChunkEnds> of_activations_;  // by chunk
  std::vector<ChunkEnds> of_gradients_;
  std::vector<std::optional<KnownMessages>> known_;  // by chunk, pass and end
  std::int64_t tp_ = 1;  // if such messages can be split
};

}  // namespace ringwright::workload
