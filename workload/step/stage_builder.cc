#include "workload/step/stage_builder.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "workload/kernels/optimizer_kernels.h"
#include "workload/layout/gradient_turns.h"
#include "workload/step/combined_pass.h"

namespace ringwright::workload {
namespace {

std::string_view work_of(Pass pass) {
  if (pass == Pass::kInputGradient) return "input gradients";
  return pass == Pass::kWeightGradient ? "weight gradients" : "backward";
}

}  // namespace

StageBuilder::StageBuilder(const StepInputs& inputs, const StepStreams& streams, SectionTable& sections,
                           const Stage& stage)
    : inputs_(inputs),
      streams_(streams),
      stage_(stage),
      parts_(stage_chunks(inputs.shape, inputs.parallel, stage.number)),
      reduces_(reducing_slots(stage.slots, inputs.parallel.gradient_reduction)),
      points_(sections, inputs.parallel, streams, stage.context_place),
      pipeline_(sections.context(), inputs.parallel, stage.number, streams.pipeline, stage.ends),
      host_(sections.context(), inputs.parallel.offload, streams.host),
      activations_(parts_, sections.context(), inputs.parallel.offload, host_),
      replicas_(sections, inputs.parallel, parts_, stage.slots, streams, host_),
      segments_(stage.passes, stage.written) {
  sections.tile_with(replicas_.tiles());
}

Program StageBuilder::build(GraphTables& tables) {
  ProgramWriter writer(tables, fmt::format("stage {}", stage_.number));
  writer.expect(3 * stage_.slots.size());  // a message, the pass, a message
  begin(writer);
  first_tasks_.reserve(stage_.slots.size());
  for (std::size_t first = 0; first < stage_.slots.size();) {
    std::size_t last = first;
    while (stage_.slots[last].joined && last + 1 < stage_.slots.size()) ++last;
    const TaskIndex begin = writer.position();
    for (std::size_t slot = first; slot <= last; ++slot) first_tasks_.push_back(begin);
    block(writer, first, last);
    first = last + 1;
  }
  finish(writer);
  return writer.finish(streams_.stream_count);
}

void StageBuilder::block(ProgramWriter& writer, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i) {
    if (inputs_.parallel.recompute_ahead) recompute_ahead(writer, stage_.slots[i]);
    pipeline_.receive(writer, points_.tensor(), stage_.slots[i]);
  }
  if (combines(first, last)) return combined(writer, stage_.slots[first], last);
  for (std::size_t i = first; i <= last; ++i) {
    if (stage_.slots[i].pass == Pass::kForward) {
      forward(writer, stage_.slots[i]);
    } else {
      backward(writer, i);
    }
  }
  for (std::size_t i = first; i <= last; ++i) pipeline_.send(writer, stage_.slots[i]);
}

bool StageBuilder::combines(std::size_t first, std::size_t last) const {
  return last == first + 1 && stage_.slots[first].in_turns;
}

void StageBuilder::combined(ProgramWriter& writer, const Slot& forward, std::size_t backward) {
  const Slot& slot = stage_.slots[backward];
  const auto turn = reduces_[backward] ? DataParallel::Turn::kReduces : DataParallel::Turn::kAddsUp;
  writer.name_work(stage_.labels.of(slot), "forward and backward");
  const ModelChunk& ahead = part_of(forward.chunk);
  const ModelChunk& behind = part_of(slot.chunk);
  CombinedPass pass({.points = points_, .replicas = replicas_, .activations = activations_},
                    {.layers = ahead, .chunk = forward.chunk}, {.layers = behind, .chunk = slot.chunk}, turn);
  const auto results = [&] { pass.write_results(writer); };
  const auto rest = [&] { pass.write_rest(writer); };
  const bool identical = replicas_.leaves_forward_alone(forward.chunk) && replicas_.leaves_backward_alone(turn) &&
                         !host_.moves_activations();
  identical ? segments_.write_pair(writer, ahead, behind, PairPart::kResults, results) : results();
  pipeline_.send(writer, forward);
  pipeline_.send(writer, slot);
  identical ? segments_.write_pair(writer, ahead, behind, PairPart::kRest, rest) : rest();
}

void StageBuilder::begin(ProgramWriter& writer) {
  host_.begin_step(writer, replicas_.owned_elements());
  replicas_.begin_step(writer);
  writer.name_work({.label = "clear gradients", .work = "clear gradients"});
  writer.compute(points_.sections().add(clear_gradients(points_.context(), replicas_.kept_gradients())));
  cast_weights(writer);
}

// Weights that are stored in fp8 have a second layout, which frozen ones never lose.
void StageBuilder::cast_weights(ProgramWriter& writer) {
  const TrainingOptions& training = inputs_.training;
  if (!training.stores_cast_weights() || inputs_.parallel.sharding.parameters) return;
  if (training.transposes_in_each_pass()) return;
  const LayerMatrices cast = layer_matrices(parts_, local_experts(inputs_.shape, inputs_.parallel),
                                            training.narrow_parameters ? Matrices::kTrained : Matrices::kAll);
  if (cast.count == 0) return;
  const std::vector<Kernel> casts = workload::cast_weights(points_.context(), cast.elements, cast.count);
  if (casts.empty()) return;
  writer.name_work({.label = "cast weights", .work = "cast weights"});
  writer.compute(points_.sections().add(casts));
}

// The backward pass of a group of layers begins at its last MLP; before that they are computed from the stored input.
void StageBuilder::recompute_layers(ProgramWriter& writer, int chunk, std::size_t point) {
  const auto span = kept_of(chunk).computed_again_before(point);
  if (!span) return;
  if (inputs_.training.full.distributed) points_.tensor().gather_activation(writer);
  const std::vector<PointKind>& points = part_of(chunk).points;
  // Megatron, multi_token_prediction.py: _checkpointed_forward of _proj_and_transformer_layer.
  const bool predicts = span->first > 0 && points[span->first - 1] == PointKind::kPredictor;
  if (predicts) points_.tensor().predictor_projection(writer);
  for (std::size_t again = span->first; again <= span->last; ++again) points_.forward(writer, points[again]);
}

bool StageBuilder::goes_ahead(int chunk, std::size_t point) const {
  if (!inputs_.parallel.recompute_ahead || !kept_of(chunk).computed_again_before(point)) return false;
  const std::vector<PointKind>& points = part_of(chunk).points;
  return std::none_of(points.begin() + static_cast<std::ptrdiff_t>(point) + 1, points.end(), ends_layer);
}

void StageBuilder::recompute_ahead(ProgramWriter& writer, const Slot& slot) {
  if (slot.pass != Pass::kBackward) return;
  for (std::size_t point = 0; point < part_of(slot.chunk).points.size(); ++point) {
    if (!goes_ahead(slot.chunk, point)) continue;
    writer.name_work({.label = fmt::format("R{}", slot.microbatch), .work = "recompute"});
    activations_.fetch(writer, slot.chunk, point);
    recompute_layers(writer, slot.chunk, point);
  }
}

void StageBuilder::forward(ProgramWriter& writer, const Slot& slot) {
  if (part_of(slot.chunk).points.empty()) return;
  writer.name_work(stage_.labels.of(slot), "forward");
  const auto write = [&] { forward_points(writer, slot); };
  const bool identical = replicas_.leaves_forward_alone(slot.chunk) && !host_.moves_activations();
  identical ? segments_.write_pass(writer, slot, part_of(slot.chunk), write) : write();
}

void StageBuilder::forward_points(ProgramWriter& writer, const Slot& slot) {
  const ModelChunk& part = parts_[static_cast<std::size_t>(slot.chunk)];
  for (std::size_t point = 0; point < part.points.size(); ++point) {
    replicas_.before_forward(writer, slot.chunk, point);
    points_.forward(writer, part.points[point]);
    activations_.store(writer, slot.chunk, point);
    replicas_.after_forward(writer, slot.chunk, point);
  }
}

void StageBuilder::backward(ProgramWriter& writer, std::size_t number) {
  const Slot& slot = stage_.slots[number];
  if (part_of(slot.chunk).points.empty()) return;
  const auto turn = reduces_[number] ? DataParallel::Turn::kReduces : DataParallel::Turn::kAddsUp;
  writer.name_work(stage_.labels.of(slot), work_of(slot.pass));
  const auto write = [&] { backward_points(writer, slot, turn); };
  const bool identical = replicas_.leaves_backward_alone(turn) && !host_.moves_activations();
  identical ? segments_.write_pass(writer, slot, part_of(slot.chunk), write) : write();
}

void StageBuilder::backward_points(ProgramWriter& writer, const Slot& slot, DataParallel::Turn turn) {
  const ModelChunk& part = parts_[static_cast<std::size_t>(slot.chunk)];
  for (std::size_t point = part.points.size(); point-- > 0;) {
    if (slot.pass != Pass::kWeightGradient) {
      replicas_.before_backward(writer, slot.chunk, point);
      if (!goes_ahead(slot.chunk, point)) {
        activations_.fetch(writer, slot.chunk, point);
        recompute_layers(writer, slot.chunk, point);
      }
    }
    points_.backward(writer, part.points[point], slot.pass);
    if (!ends_microbatch(slot.pass)) continue;
    replicas_.after_backward(writer, slot.chunk, point, turn);
  }
}

// If two stages hold the same chunks, each has processed half of the microbatches. Both sum the chunks in model order;
// of sharded gradients each rank has its share.
void StageBuilder::reduce_copies(ProgramWriter& writer) {
  if (!streams_.mirror) return;
  const auto bytes = static_cast<std::int64_t>(bytes_per_element(inputs_.training.grad_reduce));
  const bool sharded = inputs_.parallel.zero_stage >= 1;
  const std::int64_t shares = sharded ? inputs_.parallel.state_sharers() : 1;
  const std::int64_t expert_shares = sharded ? inputs_.parallel.expert_replicas() : 1;
  std::vector<const ModelChunk*> in_model_order;
  for (const ModelChunk& part : parts_) in_model_order.push_back(&part);
  std::ranges::sort(in_model_order, {}, &ModelChunk::number);
  for (const ModelChunk* part : in_model_order) {
    const std::int64_t experts = count_expert_elements(std::vector<ModelChunk>{*part});
    const std::int64_t dense = count_elements(std::vector<ModelChunk>{*part}) - experts;
    const std::int64_t elements = (dense + shares - 1) / shares + (experts + expert_shares - 1) / expert_shares;
    writer.wait(writer.collective(*streams_.mirror,
                                  {.kind = CollectiveKind::kAllReduce, .bytes = Bytes(elements * bytes)},
                                  "mirror all_reduce gradients"));
  }
}

// LAMB: two norms of each tensor, of weights and update, over all ranks that hold a part of it.
void StageBuilder::apply_update(ProgramWriter& writer, std::int64_t owned) {
  if (inputs_.training.optimizer.kind != OptimizerKind::kLamb) return;
  std::size_t tensors = 0;
  for (const ModelChunk& part : parts_) {
    for (std::size_t point = 0; point < part.tensors.size(); ++point) tensors += part.tensors[point].size();
  }
  const Bytes norms(8 * static_cast<std::int64_t>(tensors));
  replicas_.reduce_norm(writer, norms, "lamb norms");
  points_.tensor().reduce_norms(writer, norms);
  writer.compute(points_.sections().add(optimizer_apply(points_.context(), owned - host_.offloaded(owned))));
}

// Ranks that share one copy of the summed gradients. The distributed optimizer (stage 1) keeps whole buffers.
std::int64_t StageBuilder::gradient_shares() const {
  if (inputs_.parallel.sharding.parameters) return inputs_.parallel.sharding.shard;
  return inputs_.parallel.zero_stage >= 2 ? inputs_.parallel.replicas() : 1;
}

// Megatron's order: replicas, then tensors that are replicated within the model, then the gradient norm over all ranks
// of a model copy, then the update.
void StageBuilder::finish(ProgramWriter& writer) {
  const std::int64_t gradient_bytes = static_cast<std::int64_t>(bytes_per_element(inputs_.training.grad_reduce));
  writer.name_work({.label = "gradients", .work = "gradients"});
  replicas_.finish_gradients(writer);
  points_.tensor().reduce_replicated(writer, Bytes(count_replicated(parts_) * gradient_bytes));
  reduce_copies(writer);
  const bool has_embedding_copy = stage_.number == 0 || stage_.number == inputs_.parallel.pp - 1;
  if (streams_.embedding && has_embedding_copy) {
    const std::int64_t rows = padded_vocabulary(inputs_.shape, inputs_.parallel.tp) / inputs_.parallel.tp;
    const Bytes copy(rows * inputs_.shape.hidden / gradient_shares() * gradient_bytes);
    writer.wait(writer.collective(*streams_.embedding, {.kind = CollectiveKind::kAllReduce, .bytes = copy},
                                  "embedding all_reduce gradients"));
  }
  const std::int64_t owned = replicas_.owned_elements();
  writer.name_work({.label = "gradient norm", .work = "gradient norm"});
  const bool masters = inputs_.parallel.sharding.parameters && inputs_.parallel.sharding.master_in_shard;
  const Updated updated = masters ? Updated::kParameters : Updated::kCopies;
  writer.compute(points_.sections().add(gradient_norm(points_.context(), owned, updated)));
  replicas_.reduce_norm(writer, Bytes(4), "gradient norm");
  if (streams_.model) {
    const TaskIndex summed =
        writer.collective(*streams_.model, {.kind = CollectiveKind::kAllReduce, .bytes = Bytes(4)}, "mp gradient norm");
    const bool validates_later = inputs_.parallel.post_validation && inputs_.parallel.pp > 1;
    if (!validates_later) writer.wait(summed);
  }
  writer.name_work({.label = "optimizer", .work = "optimizer"});
  writer.compute(points_.sections().add(optimizer_update(points_.context(), owned - host_.offloaded(owned), updated)));
  apply_update(writer, owned);
  host_.update(writer, owned);
  replicas_.end_step(writer);
}

}  // namespace ringwright::workload
