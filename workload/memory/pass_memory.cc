#include "workload/memory/pass_memory.h"

#include <algorithm>

#include "workload/memory/activations.h"
#include "workload/parallel/shard_units.h"

namespace ringwright::workload {

using namespace ringwright::literals;

namespace {

bool is_head(PointKind kind) {
  return kind == PointKind::kHead || kind == PointKind::kPredictorHead;
}

}  // namespace

PointSizes::PointSizes(const KernelContext& context)
    : context_(context), embedding_(embedding_activations(context)), head_(head_activations(context)) {}

Bytes PointSizes::workspace_of(const LayerHalves& halves) {
  std::optional<Bytes>& known =
      workspaces_[3 * static_cast<std::size_t>(halves.mixer) + static_cast<std::size_t>(halves.mlp)];
  if (!known) known = gradient_workspace(context_, halves);
  return *known;
}

PassWalker::PassWalker(const StepInputs& inputs, const std::vector<ModelChunk>& parts)
    : parts_(parts),
      context_(make_kernel_context(inputs.shape, inputs.training, inputs.parallel)),
      offloaded_layers_(inputs.parallel.offload.activation_layers),
      sizes_(context_),
      known_(kPasses * parts.size()) {
  layers_.reserve(parts.size());
  for (const ModelChunk& part : parts) layers_.emplace_back(part, context_);
}

PassWalker::PassWalker(const StepInputs& inputs, const std::vector<ModelChunk>& parts, const std::vector<Slot>& slots,
                       const std::vector<std::size_t>& cycles)
    : PassWalker(inputs, parts) {
  if (!inputs.parallel.sharding.parameters) return;
  for (const UnitSet& set : unit_sets(inputs.parallel)) sharded_.emplace_back(inputs, set, parts, slots, cycles);
}

bool PassWalker::gathers_repeat() const { return std::ranges::all_of(sharded_, &ShardedMemory::repeats); }

// All of one kind hold the same, unless what is gathered or on the host depends on the others.
const PassMemory& PassWalker::next(const Slot& slot) {
  const bool same = sharded_.empty() && offloaded_layers_ == 0;
  std::optional<PassMemory>& known = known_[kind_of(slot)];
  if (known && same) return *known;
  pass_ = {};
  after_total_ = {};
  if (slot.pass == Pass::kForward) {
    forward(slot);
  } else {
    backward(slot);
  }
  for (ShardedMemory& state : sharded_) state.end_pass();
  pass_.added = after_total_;
  return known.emplace(pass_);
}

void PassWalker::hold(Held kind, Bytes bytes) {
  pass_.after[kind] += bytes;
  after_total_ += bytes;
}

// A layer's tensors count from its second half.
void PassWalker::keep(int chunk, std::size_t point, std::int64_t sign) {
  const ModelChunk& part = part_of(chunk);
  const PointKind kind = part.points[point];
  if (ends_layer(kind)) {
    const Bytes kept = layers_of(chunk).kept(point) * sign;
    if (waits_elsewhere(part, point)) {
      on_host_ += kept;
    } else {
      hold(Held::kLayers, kept);
    }
    most_on_host_ = std::max(most_on_host_, on_host_);
  }
  if (kind == PointKind::kEmbedding) hold(Held::kEmbedding, sizes_.embedding() * sign);
  if (is_head(kind)) hold(Held::kHead, sizes_.head() * sign);
}

// One of the layers whose activations are in host memory between the passes.
bool PassWalker::waits_elsewhere(const ModelChunk& part, std::size_t point) const {
  if (offloaded_layers_ == 0) return false;
  const auto before =
      std::count_if(part.points.begin(), part.points.begin() + static_cast<std::ptrdiff_t>(point), ends_layer);
  return before < offloaded_layers_;
}

void PassWalker::forward(const Slot& slot) {
  const ModelChunk& part = part_of(slot.chunk);
  for (std::size_t point = 0; point < part.points.size(); ++point) {
    keep(slot.chunk, point, 1);
    look(slot, point, Pass::kForward);
  }
}

void PassWalker::backward(const Slot& slot) {
  const ModelChunk& part = part_of(slot.chunk);
  for (std::size_t point = part.points.size(); point-- > 0;) {
    look(slot, point, slot.pass == Pass::kWeightGradient ? Pass::kForward : Pass::kBackward);
    if (slot.pass == Pass::kInputGradient) keep_recomputed(slot.chunk, point, 1);
    if (slot.pass == Pass::kWeightGradient) keep_recomputed(slot.chunk, point, -1);
    if (ends_microbatch(slot.pass)) keep(slot.chunk, point, -1);
  }
}

// Weight gradients need the inputs of their layers, also recomputed ones.
void PassWalker::keep_recomputed(int chunk, std::size_t point, std::int64_t sign) {
  if (ends_layer(part_of(chunk).points[point])) hold(Held::kRecomputed, layers_of(chunk).again(point) * sign);
}

void PassWalker::look(const Slot& slot, std::size_t point, Pass pass) {
  HeldBytes more;  // at this point only
  const PointKind kind = part_of(slot.chunk).points[point];
  if (is_head(kind)) more[Held::kHead] += head_workspace(context_);
  if (ends_layer(kind) && waits_elsewhere(part_of(slot.chunk), point)) {
    // A recomputed group of layers needs the input of its first one.
    const KeptLayers& layers = layers_of(slot.chunk);
    more[Held::kLayers] +=
        std::max(layers.kept(point), layers.needed_before(point)) * 2;  // this one, and the one in flight
  }
  if (ends_layer(kind) && pass != Pass::kForward) {
    const LayerHalves halves = halves_at(part_of(slot.chunk).points[point - 1], kind);
    more[Held::kRecomputed] += layers_of(slot.chunk).alive_again(point);
    more[Held::kGradients] = sizes_.workspace_of(halves);
  }
  for (ShardedMemory& state : sharded_) state.enter(slot.chunk, point, more);
  const Bytes total = after_total_ + more.total();
  const Bytes reserved = total + (is_head(kind) ? head_cached(context_) : 0_B);
  pass_.reserved = pass_.total ? std::max(pass_.reserved, reserved) : reserved;
  if (pass_.total && total <= *pass_.total) return;
  pass_.total = total;
  pass_.peak = pass_.after;
  pass_.peak.add(more);
}

}  // namespace ringwright::workload
