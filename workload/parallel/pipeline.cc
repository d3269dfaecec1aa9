#include "workload/parallel/pipeline.h"

namespace ringwright::workload {
namespace {

// The direction of a pass through the model chunks.
int direction(Pass pass) {
  return pass == Pass::kForward ? 1 : -1;
}

}  // namespace

PipelineParallel::PipelineParallel(const KernelContext& context, const ParallelOptions& parallel, int stage,
                                   std::optional<PipelineStreams> channels)
    : parallel_(parallel),
      channels_(channels),
      tp_(parallel.sequence_parallel ? 1 : parallel.tp) {
  const std::int64_t tokens = context.tokens();
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(context.training.precision));
  const std::int64_t split = parallel.sequence_parallel ? parallel.tp : 1;
  const PipelineShape shape = parallel.pipeline();
  const auto stage_of = [&](int chunk, int step) -> std::optional<int> {
    const auto place = neighbour(shape, {.stage = stage, .chunk = chunk}, step);
    return place && place->stage != stage ? std::optional(place->stage) : std::nullopt;
  };
  for (int chunk = 0; chunk < shape.chunks; ++chunk) {
    before_.push_back(stage_of(chunk, -1));
    after_.push_back(stage_of(chunk, 1));
  }
  bytes_ = Bytes((tokens * context.shape.hidden * value_bytes + split - 1) / split);
}

bool PipelineParallel::is_scattered(Pass pass) const {
  return tp_ > 1 && (pass == Pass::kForward ? parallel_.scatter_gather_p2p : parallel_.scatter_gather_gradients);
}

MessageSpec PipelineParallel::message(Pass pass, int peer) const {
  const std::int64_t split = is_scattered(pass) ? tp_ : 1;
  return {.peer = peer,
          .bytes = Bytes((bytes_.count() + split - 1) / split),
          .channel = static_cast<std::uint8_t>(pass == Pass::kForward ? 0 : 1)};
}

void PipelineParallel::receive(ProgramWriter& writer, TensorParallel& tensor, const Slot& slot) const {
  const std::optional<int> from = peer(slot, -direction(slot.pass));
  if (!from) return;
  const bool forward = slot.pass == Pass::kForward;
  MessageSpec expected = message(slot.pass, *from);
  // The previous stage is one forward pass farther ahead.
  if (forward && !parallel_.flushes()) expected.lag = 1;
  writer.wait(writer.receive(forward ? channels_->forward : channels_->backward, expected,
                             forward ? "pp receive activation" : "pp receive gradient"));
  if (is_scattered(slot.pass)) tensor.gather_activation(writer);
}

void PipelineParallel::send(ProgramWriter& writer, const Slot& slot) const {
  const std::optional<int> to = peer(slot, direction(slot.pass));
  if (!to) return;
  const bool forward = slot.pass == Pass::kForward;
  const TaskIndex sent = writer.send(forward ? channels_->forward : channels_->backward, message(slot.pass, *to),
                                     forward ? "pp send activation" : "pp send gradient");
  if (!parallel_.overlap_p2p) writer.wait(sent);
}

}  // namespace ringwright::workload
