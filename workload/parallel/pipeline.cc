#include "workload/parallel/pipeline.h"

#include <string_view>
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
  known_.resize(2 * kPasses * static_cast<std::size_t>(shape.chunks));
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

PipelineParallel::KnownMessages PipelineParallel::look_up(ProgramWriter& writer, const Slot& slot, End end) const {
  const bool forward = slot.pass == Pass::kForward;
  const bool sends = end == End::kSends;
  const std::string_view label = sends ? (forward ? "pp send activation" : "pp send gradient")
                                       : (forward ? "pp receive activation" : "pp receive gradient");
  const std::span<const PipelineMessage> exchanged =
      messages(slot, sends ? direction(slot.pass) : -direction(slot.pass));
  KnownMessages known;
  for (std::size_t i = 0; i < exchanged.size(); ++i) {
    MessageSpec spec = message(slot.pass, exchanged[i]);
    // The previous stage is one forward pass farther ahead.
    if (!sends && forward && !parallel_.flushes()) spec.lag = 1;
    known.push_back(writer.look_up(channels(slot)[i], spec, label));
  }
  return known;
}

void PipelineParallel::receive(ProgramWriter& writer, TensorParallel& tensor, const Slot& slot) {
  const KnownMessages& expected = known_messages(writer, slot, End::kReceives);
  if (expected.empty()) return;
  for (const ProgramWriter::KnownMessage& message : expected) writer.wait(writer.receive(message));
  if (is_scattered(slot.pass)) tensor.gather_activation(writer);
}

void PipelineParallel::send(ProgramWriter& writer, const Slot& slot) {
  const KnownMessages& passed_on = known_messages(writer, slot, End::kSends);
  TaskIndex last = 0;
  for (const ProgramWriter::KnownMessage& message : passed_on) last = writer.pass_on(message);
  if (parallel_.overlap_p2p) return;
  for (std::size_t later = passed_on.size(); later-- > 0;) writer.wait(last - static_cast<TaskIndex>(later));
}

}  // namespace ringwright::workload
