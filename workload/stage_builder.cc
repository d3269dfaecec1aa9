#include "workload/stage_builder.h"

#include <fmt/format.h>

#include "workload/builtin.h"
#include "workload/optimizer_kernels.h"

namespace ringwright::workload {

StageBuilder::StageBuilder(const StepInputs& inputs, const StepStreams& streams, PieceTable& pieces, int stage,
                           int context_place)
    : inputs_(inputs),
      streams_(streams),
      pieces_(pieces),
      stage_(stage),
      parts_(stage_parts(inputs.shape, inputs.parallel, stage)),
      context_(pieces, inputs.parallel, {.collective = streams.context, .ring = streams.ring}, context_place),
      tensor_(pieces, context_, streams.tensor),
      expert_(pieces, tensor_,
              {.all = streams.expert,
               .inner = streams.inner_expert,
               .outer = streams.outer_expert,
               .tensor = streams.expert_tensor}),
      pipeline_(pieces.context(), inputs.parallel, stage, streams.pipeline),
      data_(pieces, inputs.parallel, parts_, streams.data),
      expert_data_(pieces, inputs.parallel, parts_, streams.expert_data, Holding::kExpert) {}

std::string StageBuilder::name_of(char letter, const Slot& slot) const {
  return inputs_.parallel.virtual_stages == 1 ? fmt::format("{}{}", letter, slot.microbatch)
                                              : fmt::format("{}{}.{}", letter, slot.microbatch, slot.chunk);
}

Program StageBuilder::build(GraphTables& tables) {
  ProgramWriter writer(tables, fmt::format("stage {}", stage_));
  begin(writer);
  const ParallelOptions& parallel = inputs_.parallel;
  const std::vector<Slot> slots =
      find_schedule(parallel.schedule)
          .order({.stage = stage_,
                  .stages = parallel.pp,
                  .chunks = parallel.virtual_stages,
                  .microbatches = static_cast<int>(parallel.microbatches(inputs_.training))});
  for (const Slot& slot : slots) {
    if (slot.pass == Pass::kForward) {
      forward(writer, slot);
    } else {
      backward(writer, slot);
    }
  }
  finish(writer);
  return writer.finish(streams_.stream_count);
}

void StageBuilder::begin(ProgramWriter& writer) {
  data_.begin_step(writer);
  expert_data_.begin_step(writer);
  writer.name_work({.label = "clear gradients", .work = "clear gradients"});
  writer.compute(pieces_.add(clear_gradients(pieces_.context(), count_trainable(parts_))));
}

void StageBuilder::forward_point(ProgramWriter& writer, PointKind kind) {
  switch (kind) {
    case PointKind::kEmbedding: return tensor_.embedding_forward(writer);
    case PointKind::kAttention: return tensor_.attention_forward(writer, AttentionReach::kAll);
    case PointKind::kWindowedAttention: return tensor_.attention_forward(writer, AttentionReach::kWindow);
    case PointKind::kMlp: return tensor_.mlp_forward(writer);
    case PointKind::kExperts: return expert_.forward(writer);
    case PointKind::kPredictor: return tensor_.predictor_forward(writer);
    case PointKind::kPredictorHead:
    case PointKind::kHead: return tensor_.head_forward(writer);
  }
}

void StageBuilder::backward_point(ProgramWriter& writer, PointKind kind) {
  switch (kind) {
    case PointKind::kEmbedding: return tensor_.embedding_backward(writer);
    case PointKind::kAttention: return tensor_.attention_backward(writer, AttentionReach::kAll);
    case PointKind::kWindowedAttention: return tensor_.attention_backward(writer, AttentionReach::kWindow);
    case PointKind::kMlp: return tensor_.mlp_backward(writer);
    case PointKind::kExperts: return expert_.backward(writer);
    case PointKind::kPredictor: return tensor_.predictor_backward(writer);
    case PointKind::kPredictorHead:
    case PointKind::kHead: return tensor_.head_backward(writer);
  }
}

// A layer's backward pass begins at its MLP; before that the whole layer is computed from its stored input.
void StageBuilder::recompute_layer(ProgramWriter& writer, const Part& part, std::size_t point) {
  if (inputs_.training.recompute != Recompute::kFull || !ends_layer(part.points[point])) return;
  forward_point(writer, part.points[point - 1]);
  forward_point(writer, part.points[point]);
}

void StageBuilder::forward(ProgramWriter& writer, const Slot& slot) {
  const Part& part = parts_[static_cast<std::size_t>(slot.chunk)];
  writer.name_work({.label = name_of('F', slot), .work = "forward"});
  pipeline_.receive(writer, tensor_, slot);
  for (std::size_t point = 0; point < part.points.size(); ++point) {
    data_.before_forward(writer, slot.chunk, point);
    expert_data_.before_forward(writer, slot.chunk, point);
    forward_point(writer, part.points[point]);
  }
  pipeline_.send(writer, slot);
}

void StageBuilder::backward(ProgramWriter& writer, const Slot& slot) {
  const Part& part = parts_[static_cast<std::size_t>(slot.chunk)];
  const bool last = slot.microbatch == inputs_.parallel.microbatches(inputs_.training) - 1;
  writer.name_work({.label = name_of('B', slot), .work = "backward"});
  pipeline_.receive(writer, tensor_, slot);
  for (std::size_t point = part.points.size(); point-- > 0;) {
    recompute_layer(writer, part, point);
    backward_point(writer, part.points[point]);
    if (!last) continue;
    data_.after_backward(writer, slot.chunk, point);
    expert_data_.after_backward(writer, slot.chunk, point);
  }
  pipeline_.send(writer, slot);
}

// Megatron's order: replicas, then tensors that are replicated within the model, then the gradient's norm over
// everything that holds a part of the model, then the update.
void StageBuilder::finish(ProgramWriter& writer) {
  const std::int64_t gradient_bytes = static_cast<std::int64_t>(bytes_per_element(inputs_.training.grad_reduce));
  writer.name_work({.label = "gradients", .work = "gradients"});
  data_.finish_gradients(writer);
  expert_data_.finish_gradients(writer);
  tensor_.reduce_replicated(writer, Bytes(count_replicated(parts_) * gradient_bytes));
  const bool has_embedding_copy = stage_ == 0 || stage_ == inputs_.parallel.pp - 1;
  if (streams_.embedding && has_embedding_copy) {
    const std::int64_t rows = padded_vocabulary(inputs_.shape, inputs_.parallel.tp) / inputs_.parallel.tp;
    const Bytes copy(rows * inputs_.shape.hidden * gradient_bytes);
    writer.wait(writer.collective(*streams_.embedding, {.kind = CollectiveKind::kAllReduce, .bytes = copy},
                                  "embedding all_reduce gradients"));
  }
  const std::int64_t owned = data_.owned_elements() + expert_data_.owned_elements();
  writer.name_work({.label = "gradient norm", .work = "gradient norm"});
  writer.compute(pieces_.add(gradient_norm(pieces_.context(), owned)));
  data_.reduce_norm(writer);
  expert_data_.reduce_norm(writer);
  if (streams_.model) {
    writer.wait(writer.collective(*streams_.model, {.kind = CollectiveKind::kAllReduce, .bytes = Bytes(4)},
                                  "mp gradient norm"));
  }
  writer.name_work({.label = "optimizer", .work = "optimizer"});
  writer.compute(pieces_.add(optimizer_update(pieces_.context(), owned)));
  data_.end_step(writer);
  expert_data_.end_step(writer);
}

}  // namespace ringwright::workload
