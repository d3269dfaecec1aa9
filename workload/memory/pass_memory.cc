#include "workload/memory/pass_memory.h"

#include <algorithm>

#include "workload/memory/activations.h"
#include "workload/memory/exchange_workspace.h"

namespace ringwright::workload {

using namespace ringwright::literals;

namespace {

bool is_head(PointKind kind) {
  return kind == PointKind::kHead || kind == PointKind::kPredictorHead;
}

}  // namespace

PointSizes::PointSizes(const KernelContext& context)
    : context_(context),
      embedding_(embedding_activations(context)),
      predictor_(predictor_activations(context)),
      head_(head_activations(context)) {}

std::optional<Bytes>& PointSizes::at(ByHalves& known, const LayerHalves& halves) {
  return known[3 * static_cast<std::size_t>(halves.mixer) + static_cast<std::size_t>(halves.mlp)];
}

Bytes PointSizes::workspace_of(const LayerHalves& halves) {
  std::optional<Bytes>& known = at(workspaces_, halves);
  if (!known) known = gradient_workspace(context_, halves);
  return *known;
}

Bytes PointSizes::exchange_of(const LayerHalves& halves, Pass pass) {
  const bool forward = pass == Pass::kForward;
  std::optional<Bytes>& known = at(forward ? forward_exchanges_ : exchanges_, halves);
  if (!known) {
    known = forward ? forward_exchange_workspace(context_, halves) : backward_exchange_workspace(context_, halves);
  }
  return *known;
}

PassWalker::PassWalker(const StepInputs& inputs, const std::vector<ModelChunk>& parts,
                       const std::vector<StageUnits>& units)
    : inputs_(inputs),
      parts_(parts),
      context_(make_kernel_context(inputs.shape, inputs.training, inputs.parallel)),
      offloaded_layers_(inputs.parallel.offload.activation_layers),
      sizes_(context_),
      units_(units),
      known_(kPasses * parts.size()) {
  layers_.reserve(parts.size());
  for (const ModelChunk& part : parts) layers_.emplace_back(part, context_);
}

void PassWalker::begin(KnownGathers& gathers, const std::vector<Slot>& slots, const std::vector<std::size_t>& cycles) {
  on_host_ = {};
  most_on_host_ = {};
  gathered_.clear();
  gathered_.reserve(units_.size());
  for (const StageUnits& stage : units_) {
    const GatherSchedule& schedule =
        gathers.of(stage, {.parts = parts_, .training = inputs_.training, .slots = slots, .cycles = cycles});
    gathered_.emplace_back(inputs_, stage.units, schedule);
  }
}

bool PassWalker::gathers_repeat() const { return std::ranges::all_of(gathered_, &ShardedMemory::repeats); }

// All of one kind hold the same, but for what is gathered, which depends on the others, and unless some is on the host.
const PassMemory& PassWalker::next(const Slot& slot) {
  const std::size_t kind = kind_of(slot);
  Known& known = known_[kind];
  const bool again = !known.walked || offloaded_layers_ > 0;
  if (!again && std::ranges::all_of(gathered_, [kind](const ShardedMemory& of) { return of.next_repeats(kind); })) {
    for (ShardedMemory& state : gathered_) state.skip_pass(kind);
    return known.pass;
  }
  if (again) {
    known = {.walked = true, .points = {}, .pass = {}};
    known.points.reserve(part_of(slot.chunk).points.size());
    if (slot.pass == Pass::kForward) {
      forward(known, slot);
    } else {
      backward(known, slot);
    }
  }
  find_peak(known, slot.chunk);
  for (ShardedMemory& state : gathered_) state.end_pass(kind);
  return known.pass;
}

void PassWalker::find_peak(Known& walked, int chunk) {
  PassMemory& pass = walked.pass;
  pass.total.reset();
  const AtPoint* fullest = nullptr;
  GatheredBytes then;
  for (const AtPoint& at : walked.points) {
    GatheredBytes more;
    for (ShardedMemory& state : gathered_) state.enter(chunk, at.point, more);
    const Bytes total = at.total + more.gathered + more.unreduced;
    const Bytes reserved = total + at.cached;
    pass.reserved = pass.total ? std::max(pass.reserved, reserved) : reserved;
    if (pass.total && total <= *pass.total) continue;
    pass.total = total;
    fullest = &at;
    then = more;
  }
  if (fullest == nullptr) return;
  pass.peak = fullest->held;
  pass.peak[Held::kGathered] += then.gathered;
  pass.peak[Held::kUnreduced] += then.unreduced;
}

// A layer's tensors count from its second half.
void PassWalker::keep(Known& walk, int chunk, std::size_t point, std::int64_t sign) {
  const ModelChunk& part = part_of(chunk);
  const PointKind kind = part.points[point];
  if (ends_layer(kind)) {
    const Bytes kept = layers_of(chunk).kept(point) * sign;
    if (waits_elsewhere(part, point)) {
      on_host_ += kept;
    } else {
      walk.hold(Held::kLayers, kept);
    }
    most_on_host_ = std::max(most_on_host_, on_host_);
  }
  if (kind == PointKind::kEmbedding) walk.hold(Held::kEmbedding, sizes_.embedding() * sign);
  if (kind == PointKind::kPredictor) walk.hold(Held::kLayers, sizes_.predictor() * sign);
  if (is_head(kind)) walk.hold(Held::kHead, sizes_.head() * sign);
}

// One of the layers whose activations are in host memory between the passes.
bool PassWalker::waits_elsewhere(const ModelChunk& part, std::size_t point) const {
  if (offloaded_layers_ == 0) return false;
  const auto before =
      std::count_if(part.points.begin(), part.points.begin() + static_cast<std::ptrdiff_t>(point), ends_layer);
  return before < offloaded_layers_;
}

void PassWalker::forward(Known& walk, const Slot& slot) {
  const ModelChunk& part = part_of(slot.chunk);
  for (std::size_t point = 0; point < part.points.size(); ++point) {
    keep(walk, slot.chunk, point, 1);
    look(walk, slot, point, Pass::kForward);
  }
}

void PassWalker::backward(Known& walk, const Slot& slot) {
  const ModelChunk& part = part_of(slot.chunk);
  for (std::size_t point = part.points.size(); point-- > 0;) {
    look(walk, slot, point, slot.pass == Pass::kWeightGradient ? Pass::kForward : Pass::kBackward);
    if (slot.pass == Pass::kInputGradient) keep_recomputed(walk, slot.chunk, point, 1);
    if (slot.pass == Pass::kWeightGradient) keep_recomputed(walk, slot.chunk, point, -1);
    if (ends_microbatch(slot.pass)) keep(walk, slot.chunk, point, -1);
  }
}

// Weight gradients need the inputs of their layers, also recomputed ones.
void PassWalker::keep_recomputed(Known& walk, int chunk, std::size_t point, std::int64_t sign) const {
  if (ends_layer(part_of(chunk).points[point])) walk.hold(Held::kRecomputed, layers_of(chunk).again(point) * sign);
}

// Attention's and the MLP's one after the other.
void PassWalker::hold_workspace(HeldBytes& more, const LayerHalves& halves) {
  const Bytes gradients = sizes_.workspace_of(halves);
  const Bytes exchange = sizes_.exchange_of(halves, Pass::kBackward);
  more[exchange > gradients ? Held::kExchange : Held::kGradients] = std::max(exchange, gradients);
}

void PassWalker::look(Known& walk, const Slot& slot, std::size_t point, Pass pass) {
  HeldBytes more;  // at this point only
  const PointKind kind = part_of(slot.chunk).points[point];
  if (is_head(kind)) more[Held::kHead] += head_workspace(context_);
  if (ends_layer(kind) && waits_elsewhere(part_of(slot.chunk), point)) {
    // A recomputed group of layers needs the input of its first one.
    const KeptLayers& layers = layers_of(slot.chunk);
    more[Held::kLayers] +=
        std::max(layers.kept(point), layers.needed_before(point)) * 2;  // this one, and the one in flight
  }
  if (ends_layer(kind)) {
    const LayerHalves halves = halves_at(part_of(slot.chunk).points[point - 1], kind);
    if (slot.pass == Pass::kForward) more[Held::kExchange] = sizes_.exchange_of(halves, Pass::kForward);
    if (pass != Pass::kForward) {
      more[Held::kRecomputed] += layers_of(slot.chunk).alive_again(point);
      hold_workspace(more, halves);
    }
  }
  AtPoint& at = walk.points.emplace_back(AtPoint{.point = point, .held = walk.pass.after});
  at.held.add(more);
  at.total = walk.pass.added + more.total();
  if (is_head(kind)) at.cached = head_cached(context_);
}

}  // namespace ringwright::workload
