#include "workload/parallel/pipeline.h"

#include <utility>

namespace ringwright::workload {
namespace {

// The direction of a pass through the model chunks.
int direction(Pass pass) {
  return pass == Pass::kForward ? 1 : -1;
}

// Activations and gradients are separate sequences of messages.
MessageSpec message(Pass pass, const PipelineMessage& exchanged) {
  return {.peer = exchanged.peer,
          .bytes = exchanged.bytes,
          .channel = static_cast<std::uint8_t>(pass == Pass::kForward ? 0 : 1)};
}

}  // namespace

PipelineParallel::PipelineParallel(const KernelContext& context, const ParallelOptions& parallel, int stage,
                                   std::optional<PipelineStreams> channels, const PipelineEnds* ends)
    : parallel_(parallel),
      channels_(std::move(channels)),
      ends_(ends),
      tp_(parallel.sequence_parallel ? 1 : parallel.tp) {
  const std::int64_t tokens = context.tokens();
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  const std::int64_t split = parallel.sequence_parallel ? parallel.tp : 1;
  const PipelineShape shape = parallel.pipeline();
  const std::int64_t whole = (tokens * context.shape.hidden * value_bytes + split - 1) / split;  // stored on a rank
  const auto message_with = [&](Pass pass, int chunk, int step) -> std::vector<PipelineMessage> {
    const auto place = neighbour(shape, {.stage = stage, .chunk = chunk}, step);
    if (!place || place->stage == stage) return {};
    const std::int64_t pieces = is_scattered(pass) ? tp_ : 1;
    return {{.peer = place->stage, .bytes = Bytes((whole + pieces - 1) / pieces)}};
  };
  for (int chunk = 0; chunk < shape.chunks; ++chunk) {
    for (const Pass pass : {Pass::kForward, Pass::kBackward}) {
      (pass == Pass::kForward ? of_activations_ : of_gradients_)
          .push_back({.before = message_with(pass, chunk, -1), .after = message_with(pass, chunk, 1)});
    }
  }
}

bool PipelineParallel::is_scattered(Pass pass) const {
  return tp_ > 1 && (pass == Pass::kForward ? parallel_.scatter_gather_p2p : parallel_.scatter_gather_gradients);
}

std::span<const PipelineMessage> PipelineParallel::messages(const Slot& slot, int step) const {
  if (!channels_ || slot.pass == Pass::kWeightGradient) return {};
  if (ends_ != nullptr) return step > 0 ? ends_->after : ends_->before;
  const auto& by_chunk = slot.pass == Pass::kForward ? of_activations_ : of_gradients_;
  const ChunkEnds& ends = by_chunk[static_cast<std::size_t>(slot.chunk)];
  return step > 0 ? ends.after : ends.before;
}

const std::vector<CommStream>& PipelineParallel::channels(const Slot& slot) const {
  return slot.pass == Pass::kForward ? channels_->forward : channels_->backward;
}

void PipelineParallel::receive(ProgramWriter& writer, TensorParallel& tensor, const Slot& slot) const {
  const std::span<const PipelineMessage> expected = messages(slot, -direction(slot.pass));
  if (expected.empty()) return;
  const bool forward = slot.pass == Pass::kForward;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    MessageSpec spec = message(slot.pass, expected[i]);
    // The previous stage is one forward pass farther ahead.
    if (forward && !parallel_.flushes()) spec.lag = 1;
    writer.wait(writer.receive(channels(slot)[i], spec, forward ? "pp receive activation" : "pp receive gradient"));
  }
  if (is_scattered(slot.pass)) tensor.gather_activation(writer);
}

void PipelineParallel::send(ProgramWriter& writer, const Slot& slot) const {
  const std::span<const PipelineMessage> passed_on = messages(slot, direction(slot.pass));
  if (passed_on.empty()) return;
  const bool forward = slot.pass == Pass::kForward;
  std::vector<TaskIndex> awaited;
  for (std::size_t i = 0; i < passed_on.size(); ++i) {
    const TaskIndex sent = writer.pass_on(channels(slot)[i], message(slot.pass, passed_on[i]),
                                          forward ? "pp send activation" : "pp send gradient");
    if (!parallel_.overlap_p2p) awaited.push_back(sent);
  }
  for (const TaskIndex task : awaited) writer.wait(task);
}

}  // namespace ringwright::workload
