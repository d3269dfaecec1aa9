#include "workload/step/stage_builder.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "workload/kernels/optimizer_kernels.h"
#include "workload/layout/gradient_turns.h"
#include "workload/pipeline/schedule_check.h"

namespace ringwright::workload {
namespace {

// The number of layers of the chunk that end before this point.
int layer_of(const ModelChunk& part, std::size_t point) {
  return static_cast<int>(
      std::count_if(part.points.begin(), part.points.begin() + static_cast<std::ptrdiff_t>(point), ends_layer));
}

GradientShare share_of(Pass pass) {
  if (pass == Pass::kInputGradient) return GradientShare::kInputs;
  return pass == Pass::kWeightGradient ? GradientShare::kWeights : GradientShare::kWhole;
}

std::string_view work_of(Pass pass) {
  if (pass == Pass::kInputGradient) return "input gradients";
  return pass == Pass::kWeightGradient ? "weight gradients" : "backward";
}

// Among ranks with the same experts: the gradients' sum, or their shards.
DataStreams expert_streams(const ParallelOptions& parallel, const StepStreams& streams) {
  if (!parallel.shards_experts_apart()) return {.replicas = streams.expert_data, .shards = {}};
  const ShardStreams shards{.shard = streams.expert_data, .replicate = {}, .secondary = {}, .node = {}, .across = {}};
  return {.replicas = {}, .shards = shards};
}

}  // namespace

StageBuilder::StageBuilder(const StepInputs& inputs, const StepStreams& streams, SectionTable& sections,
                           const Stage& stage)
    : inputs_(inputs),
      streams_(streams),
      sections_(sections),
      stage_(stage),
      parts_(stage_chunks(inputs.shape, inputs.parallel, stage.number)),
      reduces_(reducing_slots(stage.slots, inputs.parallel.gradient_reduction)),
      context_(sections, inputs.parallel, {.collective = streams.context, .ring = streams.ring}, stage.context_place),
      tensor_(sections, context_, streams.tensor, inputs.parallel.tensor_overlap),
      expert_(sections, tensor_,
              {.all = streams.expert,
               .inner = streams.inner_expert,
               .outer = streams.outer_expert,
               .tensor = streams.expert_tensor}),
      pipeline_(sections.context(), inputs.parallel, stage.number, streams.pipeline),
      host_(sections.context(), inputs.parallel.offload, streams.host),
      data_(sections, inputs.parallel, parts_, stage.slots, streams.data, host_),
      expert_data_(sections, inputs.parallel, parts_, stage.slots, expert_streams(inputs.parallel, streams), host_,
                   Holding::kExpert) {
  for (const ModelChunk& part : parts_) kept_.emplace_back(part, sections.context());
}

Program StageBuilder::build(GraphTables& tables) {
  ProgramWriter writer(tables, fmt::format("stage {}", stage_.number));
  begin(writer);
  for (std::size_t first = 0; first < stage_.slots.size();) {
    std::size_t last = first;
    while (stage_.slots[last].joined && last + 1 < stage_.slots.size()) ++last;
    first_tasks_.resize(last + 1, writer.position());
    block(writer, first, last);
    first = last + 1;
  }
  finish(writer);
  return writer.finish(streams_.stream_count);
}

void StageBuilder::block(ProgramWriter& writer, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i <= last; ++i) {
    recompute_ahead(writer, stage_.slots[i]);
    pipeline_.receive(writer, tensor_, stage_.slots[i]);
  }
  for (std::size_t i = first; i <= last; ++i) {
    if (stage_.slots[i].pass == Pass::kForward) {
      forward(writer, stage_.slots[i]);
    } else {
      backward(writer, i);
    }
  }
  for (std::size_t i = first; i <= last; ++i) pipeline_.send(writer, stage_.slots[i]);
}

void StageBuilder::begin(ProgramWriter& writer) {
  host_.begin_step(writer, data_.owned_elements() + expert_data_.owned_elements());
  data_.begin_step(writer);
  expert_data_.begin_step(writer);
  writer.name_work({.label = "clear gradients", .work = "clear gradients"});
  writer.compute(sections_.add(clear_gradients(sections_.context(), data_.kept_gradients())));
}

void StageBuilder::forward_point(ProgramWriter& writer, PointKind kind) {
  switch (kind) {
    case PointKind::kEmbedding: return tensor_.embedding_forward(writer);
    case PointKind::kAttention: return tensor_.attention_forward(writer, AttentionSpan::kAll);
    case PointKind::kWindowedAttention: return tensor_.attention_forward(writer, AttentionSpan::kWindow);
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
    case PointKind::kAttention: return tensor_.attention_backward(writer, AttentionSpan::kAll);
    case PointKind::kWindowedAttention: return tensor_.attention_backward(writer, AttentionSpan::kWindow);
    case PointKind::kMlp: return tensor_.mlp_backward(writer);
    case PointKind::kExperts: return expert_.backward(writer);
    case PointKind::kPredictor: return tensor_.predictor_backward(writer);
    case PointKind::kPredictorHead:
    case PointKind::kHead: return tensor_.head_backward(writer);
  }
}

// The backward pass of a group of layers begins at its last MLP; before that they are computed from the stored input.
void StageBuilder::recompute_layers(ProgramWriter& writer, int chunk, std::size_t point) {
  const auto span = kept_of(chunk).computed_again_before(point);
  if (!span) return;
  if (inputs_.training.full.distributed) tensor_.gather_activation(writer);
  for (std::size_t again = span->first; again <= span->last; ++again) {
    forward_point(writer, part_of(chunk).points[again]);
  }
}

bool StageBuilder::goes_ahead(int chunk, std::size_t point) const {
  if (!inputs_.parallel.recompute_ahead || !kept_of(chunk).computed_again_before(point)) return false;
  const std::vector<PointKind>& points = part_of(chunk).points;
  return std::none_of(points.begin() + static_cast<std::ptrdiff_t>(point) + 1, points.end(), ends_layer);
}

void StageBuilder::recompute_ahead(ProgramWriter& writer, const Slot& slot) {
  if (slot.pass != Pass::kBackward || !inputs_.parallel.recompute_ahead) return;
  for (std::size_t point = 0; point < part_of(slot.chunk).points.size(); ++point) {
    if (!goes_ahead(slot.chunk, point)) continue;
    writer.name_work({.label = fmt::format("R{}", slot.microbatch), .work = "recompute"});
    fetch_activations(writer, slot.chunk, point);
    recompute_layers(writer, slot.chunk, point);
  }
}

// Weight gradients need no communication: the input gradients have already exchanged their data.
void StageBuilder::backward_share(ProgramWriter& writer, PointKind kind, Pass pass) {
  sections_.take(share_of(pass));
  if (pass == Pass::kWeightGradient) writer.mute(Communication::kOff);
  backward_point(writer, kind);
  writer.mute(Communication::kOn);
  sections_.take(GradientShare::kWhole);
}

// Passes without strategy state differ only in their microbatch: written once, then called.
template <class Write>
void StageBuilder::write_pass(ProgramWriter& writer, const Slot& slot, Write&& write) {
  if (stage_.passes == Passes::kWrittenOut) return write();
  const ProgramWriter::CallShape shape = writer.call_shape();
  const std::optional<std::uint32_t>* const known = known_pass(slot, shape);
  if (known != nullptr) return *known ? writer.call(**known) : write();
  writer.begin_segment();
  write();
  const std::optional<std::uint32_t> segment = writer.end_segment();
  const ModelChunk& part = part_of(slot.chunk);
  stage_.written.segments.emplace(std::tuple(std::tuple(part.points, part.head), slot.pass, shape), segment);
  known_.push_back({.chunk = slot.chunk, .pass = slot.pass, .shape = shape, .segment = segment});
}

const std::optional<std::uint32_t>* StageBuilder::known_pass(const Slot& slot, const ProgramWriter::CallShape& shape) {
  for (const Known& known : known_) {
    if (known.chunk == slot.chunk && known.pass == slot.pass && known.shape == shape) return &known.segment;
  }
  const ModelChunk& part = part_of(slot.chunk);
  const auto written = stage_.written.segments.find({{part.points, part.head}, slot.pass, shape});
  if (written == stage_.written.segments.end()) return nullptr;
  return &known_.emplace_back(Known{slot.chunk, slot.pass, shape, written->second}).segment;
}

std::uint32_t PassLabels::of(const Slot& slot) {
  constexpr std::size_t kPasses = 4;
  const std::size_t chunk = static_cast<std::size_t>(slot.microbatch) * static_cast<std::size_t>(chunks_) +
                            static_cast<std::size_t>(slot.chunk);
  const std::size_t place = chunk * kPasses + static_cast<std::size_t>(slot.pass);
  if (place >= labels_.size()) labels_.resize(2 * place + kPasses);
  std::uint32_t& label = labels_[place];
  if (label == 0) label = 1 + tables_.label(name_of(slot, chunks_));
  return label - 1;
}

void StageBuilder::forward(ProgramWriter& writer, const Slot& slot) {
  writer.name_work(stage_.labels.of(slot), "forward");
  const auto write = [&] { forward_points(writer, slot); };
  const bool identical = data_.leaves_forward_alone(slot.chunk) && expert_data_.leaves_forward_alone(slot.chunk) &&
                     !host_.moves_activations();
  identical ? write_pass(writer, slot, write) : write();
}

void StageBuilder::forward_points(ProgramWriter& writer, const Slot& slot) {
  const ModelChunk& part = parts_[static_cast<std::size_t>(slot.chunk)];
  for (std::size_t point = 0; point < part.points.size(); ++point) {
    data_.before_forward(writer, slot.chunk, point);
    expert_data_.before_forward(writer, slot.chunk, point);
    forward_point(writer, part.points[point]);
    store_activations(writer, slot.chunk, point);
    data_.after_forward(writer, slot.chunk, point);
    expert_data_.after_forward(writer, slot.chunk, point);
  }
}

void StageBuilder::backward(ProgramWriter& writer, std::size_t number) {
  const Slot& slot = stage_.slots[number];
  const auto turn = reduces_[number] ? DataParallel::Turn::kReduces : DataParallel::Turn::kAddsUp;
  writer.name_work(stage_.labels.of(slot), work_of(slot.pass));
  const auto write = [&] { backward_points(writer, slot, turn); };
  const bool identical =
      data_.leaves_backward_alone(turn) && expert_data_.leaves_backward_alone(turn) && !host_.moves_activations();
  identical ? write_pass(writer, slot, write) : write();
}

void StageBuilder::backward_points(ProgramWriter& writer, const Slot& slot, DataParallel::Turn turn) {
  const ModelChunk& part = parts_[static_cast<std::size_t>(slot.chunk)];
  for (std::size_t point = part.points.size(); point-- > 0;) {
    if (slot.pass != Pass::kWeightGradient) {
      data_.before_backward(writer, slot.chunk, point);
      expert_data_.before_backward(writer, slot.chunk, point);
      if (!goes_ahead(slot.chunk, point)) {
        fetch_activations(writer, slot.chunk, point);
        recompute_layers(writer, slot.chunk, point);
      }
    }
    backward_share(writer, part.points[point], slot.pass);
    if (!ends_microbatch(slot.pass)) continue;
    data_.after_backward(writer, slot.chunk, point, turn);
    expert_data_.after_backward(writer, slot.chunk, point, turn);
  }
}

// If two stages hold the same chunks, each has processed half of the microbatches. Both sum the chunks in model order;
// of sharded gradients each rank has its share.
void StageBuilder::reduce_copies(ProgramWriter& writer) {
  if (!streams_.mirror) return;
  const auto bytes = static_cast<std::int64_t>(bytes_per_element(inputs_.training.grad_reduce));
  const bool sharded = inputs_.parallel.zero_stage >= 1;
  const std::int64_t shares = sharded ? inputs_.parallel.replicas() : 1;
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

void StageBuilder::store_activations(ProgramWriter& writer, int chunk, std::size_t point) {
  if (!host_.moves_activations() || !ends_layer(part_of(chunk).points[point])) return;
  const Bytes bytes = kept_of(chunk).kept(point);
  if (bytes == Bytes(0) || layer_of(part_of(chunk), point) >= inputs_.parallel.offload.activation_layers) return;
  host_.store_activations(writer, bytes);
}

Bytes StageBuilder::awaited(int chunk, std::size_t point) const {
  const KeptLayers& kept = kept_of(chunk);
  return kept.keeper(point) < inputs_.parallel.offload.activation_layers ? kept.needed_before(point) : Bytes(0);
}

// Tensors needed first in a backward pass are fetched on demand, the rest while the layers after them are computed.
void StageBuilder::fetch_activations(ProgramWriter& writer, int chunk, std::size_t point) {
  if (!host_.moves_activations() || !ends_layer(part_of(chunk).points[point])) return;
  const Bytes mine = awaited(chunk, point);
  std::optional<TaskIndex> here = mine > Bytes(0) ? std::exchange(fetched_, std::nullopt) : std::nullopt;
  if (mine > Bytes(0) && !here) here = host_.fetch_activations(writer, mine);
  for (std::size_t next = point; next-- > 0 && !fetched_;) {
    if (kept_of(chunk).needed_before(next) == Bytes(0)) continue;
    if (awaited(chunk, next) > Bytes(0)) fetched_ = host_.fetch_activations(writer, awaited(chunk, next));
    break;
  }
  if (here) writer.wait(*here);
}

// LAMB: two norms of each tensor, of weights and update, over all ranks that hold a part of it.
void StageBuilder::apply_update(ProgramWriter& writer, std::int64_t owned) {
  if (inputs_.training.optimizer.kind != OptimizerKind::kLamb) return;
  std::size_t tensors = 0;
  for (const ModelChunk& part : parts_) {
    for (const std::vector<ParameterTensor>& of_point : part.tensors) tensors += of_point.size();
  }
  const Bytes norms(8 * static_cast<std::int64_t>(tensors));
  for (DataParallel* replicas : {&data_, &expert_data_}) replicas->reduce_norm(writer, norms, "lamb norms");
  tensor_.reduce_norms(writer, norms);
  writer.compute(sections_.add(optimizer_apply(sections_.context(), owned - host_.offloaded(owned))));
}

// Megatron's order: replicas, then tensors that are replicated within the model, then the gradient norm over all ranks
// of a model copy, then the update.
void StageBuilder::finish(ProgramWriter& writer) {
  const std::int64_t gradient_bytes = static_cast<std::int64_t>(bytes_per_element(inputs_.training.grad_reduce));
  writer.name_work({.label = "gradients", .work = "gradients"});
  data_.finish_gradients(writer);
  expert_data_.finish_gradients(writer);
  tensor_.reduce_replicated(writer, Bytes(count_replicated(parts_) * gradient_bytes));
  reduce_copies(writer);
  const bool has_embedding_copy = stage_.number == 0 || stage_.number == inputs_.parallel.pp - 1;
  if (streams_.embedding && has_embedding_copy) {
    const std::int64_t rows = padded_vocabulary(inputs_.shape, inputs_.parallel.tp) / inputs_.parallel.tp;
    const std::int64_t holders = inputs_.parallel.sharding.parameters ? inputs_.parallel.sharding.shard : 1;
    const Bytes copy(rows * inputs_.shape.hidden / holders * gradient_bytes);
    writer.wait(writer.collective(*streams_.embedding, {.kind = CollectiveKind::kAllReduce, .bytes = copy},
                                  "embedding all_reduce gradients"));
  }
  const std::int64_t owned = data_.owned_elements() + expert_data_.owned_elements();
  writer.name_work({.label = "gradient norm", .work = "gradient norm"});
  writer.compute(sections_.add(gradient_norm(sections_.context(), owned)));
  for (DataParallel* replicas : {&data_, &expert_data_}) replicas->reduce_norm(writer, Bytes(4), "gradient norm");
  if (streams_.model) {
    const TaskIndex summed =
        writer.collective(*streams_.model, {.kind = CollectiveKind::kAllReduce, .bytes = Bytes(4)}, "mp gradient norm");
    if (!inputs_.parallel.post_validation) writer.wait(summed);
  }
  writer.name_work({.label = "optimizer", .work = "optimizer"});
  writer.compute(sections_.add(optimizer_update(sections_.context(), owned - host_.offloaded(owned))));
  apply_update(writer, owned);
  host_.update(writer, owned);
  data_.end_step(writer);
  expert_data_.end_step(writer);
}

}  // namespace ringwright::workload
