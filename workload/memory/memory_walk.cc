#include "workload/memory/memory_walk.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "workload/layout/gradient_turns.h"
#include "workload/memory/activations.h"
#include "workload/memory/kept_layers.h"
#include "workload/parallel/gather_schedule.h"
#include "workload/parallel/tiled_uses.h"
#include "workload/pipeline/schedule_check.h"

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

Bytes of_elements(std::int64_t elements, DataType type) {
  return scale(Bytes(1), static_cast<double>(elements) * bytes_per_element(type));
}

bool is_head(PointKind kind) {
  return kind == PointKind::kHead || kind == PointKind::kPredictorHead;
}

// When the whole gradients of a chunk exist under ZeRO stage 2: while consecutive microbatches are accumulated. If
// every microbatch is reduced separately, only a bucket of them exists (reduction buffer).
class Accumulators {
 public:
  Accumulators(const std::vector<ModelChunk>& parts, const StepInputs& inputs, const std::vector<Slot>& slots)
      : whole_(inputs.parallel.gradient_reduction == GradientReduction::kMicrobatchGroup) {
    if (!whole_) return;
    reduces_ = reducing_slots(slots, inputs.parallel.gradient_reduction);
    held_.resize(parts.size());
    for (const ModelChunk& part : parts) {
      bytes_.push_back(of_elements(count_trainable(std::vector<ModelChunk>{part}), inputs.training.grad_reduce));
    }
  }

  // Memory that a backward pass adds at its start, and releases at its end.
  [[nodiscard]] Bytes begin_backward(int chunk) {
    if (!whole_) return 0_B;
    const auto index = static_cast<std::size_t>(chunk);
    return std::exchange(held_[index], char{1}) != 0 ? 0_B : bytes_[index];
  }
  [[nodiscard]] Bytes end_backward(int chunk, std::size_t slot) {
    if (!whole_ || !reduces_[slot]) return 0_B;
    const auto index = static_cast<std::size_t>(chunk);
    held_[index] = 0;
    return bytes_[index];
  }

 private:
  bool whole_;                 // false: nothing is added or released
  std::vector<bool> reduces_;  // by slot
  std::vector<char> held_;     // by chunk
  std::vector<Bytes> bytes_;   // by chunk
};

// Gathered parameters, and gradients that wait to be scattered: of the current unit in the type of its computation, and
// those being reduced in the reduction's type.
class ShardedState {
 public:
  ShardedState(const StepInputs& inputs, const UnitSet& set, const std::vector<ModelChunk>& parts,
               const std::vector<Slot>& slots)
      : inputs_(inputs),
        units_(parts, set.options, set.of),
        schedule_(units_, set.options, uses_of(units_, parts, inputs.training, slots)) {}

  void enter(int chunk, std::size_t point, HeldBytes& held) {
    if (units_.has_tiles()) return enter_tiles(point, held);
    const std::size_t unit = units_.unit_at(chunk, point);
    if (!started_ || schedule_.uses()[use_].unit != unit || new_pass_) use_ = started_ ? use_ + 1 : 0;
    started_ = true;
    new_pass_ = false;
    const DataType type = inputs_.training.precision;
    held[Held::kGathered] += of_elements(schedule_.steps()[use_].live, type);
    if (schedule_.uses()[use_].pass == Pass::kForward) return;
    const std::int64_t elements = units_.units()[unit].padded_gradients;
    held[Held::kUnreduced] +=
        of_elements(elements, type) + of_elements(in_flight(elements), inputs_.training.grad_reduce);
  }
  void end_pass() { new_pass_ = true; }

 private:
  // The most of the uses at a point.
  void enter_tiles(std::size_t point, HeldBytes& held) {
    const DataType type = inputs_.training.precision;
    const std::size_t slot = schedule_.uses()[use_].slot;
    Bytes gathered, unreduced;
    for (; use_ < schedule_.uses().size(); ++use_) {
      const UnitUse& use = schedule_.uses()[use_];
      if (use.slot != slot || use.point != point) break;
      const Bytes live = of_elements(schedule_.steps()[use_].live, type);
      Bytes waiting;
      if (use.pass != Pass::kForward) {
        const std::int64_t elements = units_.units()[use.unit].padded_gradients;
        waiting = of_elements(in_flight(elements), inputs_.training.grad_reduce);
        if (schedule_.steps()[use_].completes_gradients) waiting += of_elements(elements, type);
      }
      if (live + waiting <= gathered + unreduced) continue;
      gathered = live;
      unreduced = waiting;
    }
    held[Held::kGathered] += gathered;
    held[Held::kUnreduced] += unreduced;
  }
  // The bucket being filled or reduced: at least the previous unit.
  [[nodiscard]] std::int64_t in_flight(std::int64_t unit) const {
    return std::max(unit, std::min(inputs_.parallel.sharding.reduce_bucket, count_));
  }

  const StepInputs& inputs_;
  ShardUnits units_;
  GatherSchedule schedule_;
  std::int64_t count_ = units_.elements();
  std::size_t use_ = 0;
  bool started_ = false;
  bool new_pass_ = false;
};

// What all passes through points of one kind hold.
class PointSizes {
 public:
  explicit PointSizes(const KernelContext& context)
      : context_(context), embedding_(embedding_activations(context)), head_(head_activations(context)) {}
  [[nodiscard]] Bytes embedding() const { return embedding_; }
  [[nodiscard]] Bytes head() const { return head_; }
  [[nodiscard]] Bytes workspace_of(const LayerHalves& halves) {
    std::optional<Bytes>& known =
        workspaces_[3 * static_cast<std::size_t>(halves.mixer) + static_cast<std::size_t>(halves.mlp)];
    if (!known) known = gradient_workspace(context_, halves);
    return *known;
  }

 private:
  const KernelContext& context_;
  Bytes embedding_;
  Bytes head_;
  std::array<std::optional<Bytes>, 9> workspaces_;  // by kinds of both halves of a layer
};

// What one pass through a chunk adds to what is held at its beginning.
struct PassMemory {
  HeldBytes after;             // at its end
  Bytes added;                 // the same in all
  HeldBytes peak;              // at the first of the points at which the total is largest
  std::optional<Bytes> total;  // there; none: a chunk without points
  Bytes reserved;              // the largest total, with blocks of the allocator that fit nothing later
};

// Of the passes of one stage, each from what is held at its beginning.
class PassWalker {
 public:
  PassWalker(const StepInputs& inputs, const std::vector<ModelChunk>& parts, const std::vector<Slot>& slots)
      : parts_(parts),
        context_(make_kernel_context(inputs.shape, inputs.training, inputs.parallel)),
        offloaded_layers_(inputs.parallel.offload.activation_layers),
        sizes_(context_),
        known_(kPasses * parts.size()) {
    for (const ModelChunk& part : parts) layers_.emplace_back(part, context_);
    if (!inputs.parallel.sharding.parameters) return;
    for (const UnitSet& set : unit_sets(inputs.parallel)) sharded_.emplace_back(inputs, set, parts, slots);
  }

  // The next pass. All of one kind through a chunk hold the same, unless what is gathered or on the host depends on the
  // others.
  const PassMemory& next(const Slot& slot) {
    const bool repeats = sharded_.empty() && offloaded_layers_ == 0;
    std::optional<PassMemory>& known =
        known_[kPasses * static_cast<std::size_t>(slot.chunk) + static_cast<std::size_t>(slot.pass)];
    if (known && repeats) return *known;
    pass_ = {};
    after_total_ = {};
    if (slot.pass == Pass::kForward) {
      forward(slot);
    } else {
      backward(slot);
    }
    for (ShardedState& state : sharded_) state.end_pass();
    pass_.added = after_total_;
    return known.emplace(pass_);
  }
  [[nodiscard]] Bytes most_on_host() const { return most_on_host_; }

 private:
  static constexpr std::size_t kPasses = 4;  // kinds

  void hold(Held kind, Bytes bytes) {
    pass_.after[kind] += bytes;
    after_total_ += bytes;
  }
  // A layer's tensors count from its second half.
  void keep(int chunk, std::size_t point, std::int64_t sign) {
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

  [[nodiscard]] const ModelChunk& part_of(int chunk) const { return parts_[static_cast<std::size_t>(chunk)]; }
  [[nodiscard]] const KeptLayers& layers_of(int chunk) const { return layers_[static_cast<std::size_t>(chunk)]; }
  // One of the layers whose activations are in host memory between the passes.
  [[nodiscard]] bool waits_elsewhere(const ModelChunk& part, std::size_t point) const {
    if (offloaded_layers_ == 0) return false;
    const auto before =
        std::count_if(part.points.begin(), part.points.begin() + static_cast<std::ptrdiff_t>(point), ends_layer);
    return before < offloaded_layers_;
  }

  void forward(const Slot& slot) {
    const ModelChunk& part = part_of(slot.chunk);
    for (std::size_t point = 0; point < part.points.size(); ++point) {
      keep(slot.chunk, point, 1);
      look(slot, point, Pass::kForward);
    }
  }

  void backward(const Slot& slot) {
    const ModelChunk& part = part_of(slot.chunk);
    for (std::size_t point = part.points.size(); point-- > 0;) {
      look(slot, point, slot.pass == Pass::kWeightGradient ? Pass::kForward : Pass::kBackward);
      if (slot.pass == Pass::kInputGradient) keep_recomputed(slot.chunk, point, 1);
      if (slot.pass == Pass::kWeightGradient) keep_recomputed(slot.chunk, point, -1);
      if (ends_microbatch(slot.pass)) keep(slot.chunk, point, -1);
    }
  }
  // Weight gradients need the inputs of their layers, also recomputed ones.
  void keep_recomputed(int chunk, std::size_t point, std::int64_t sign) {
    if (ends_layer(part_of(chunk).points[point])) hold(Held::kRecomputed, layers_of(chunk).again(point) * sign);
  }

  void look(const Slot& slot, std::size_t point, Pass pass) {
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
    for (ShardedState& state : sharded_) state.enter(slot.chunk, point, more);
    const Bytes total = after_total_ + more.total();
    const Bytes reserved = total + (is_head(kind) ? head_cached(context_) : 0_B);
    pass_.reserved = pass_.total ? std::max(pass_.reserved, reserved) : reserved;
    if (pass_.total && total <= *pass_.total) return;
    pass_.total = total;
    pass_.peak = pass_.after;
    pass_.peak.add(more);
  }

  const std::vector<ModelChunk>& parts_;
  KernelContext context_;
  std::ptrdiff_t offloaded_layers_;
  std::vector<KeptLayers> layers_;  // by chunk
  PointSizes sizes_;
  std::vector<ShardedState> sharded_;  // one, or dense parameters and experts separately
  Bytes on_host_;
  Bytes most_on_host_;
  PassMemory pass_;                               // being walked
  Bytes after_total_;                             // of `pass_.after`
  std::vector<std::optional<PassMemory>> known_;  // by chunk and kind of pass: the last ones
};

// Of a stage.
class Walker {
 public:
  Walker(const StepInputs& inputs, const std::vector<ModelChunk>& parts, const std::vector<Slot>& slots)
      : slots_(slots), accumulators_(parts, inputs, slots), passes_(inputs, parts, slots) {}

  MemoryWalk walk() {
    for (std::size_t number = 0; number < slots_.size(); ++number) {
      const Slot& slot = slots_[number];
      const bool ends = slot.pass != Pass::kForward && ends_microbatch(slot.pass);
      if (ends) add_accumulators(accumulators_.begin_backward(slot.chunk));
      add(passes_.next(slot));
      if (ends) add_accumulators(0_B - accumulators_.end_backward(slot.chunk, number));
    }
    walk_.on_host = passes_.most_on_host();
    walk_.reserved = std::max(walk_.reserved, walk_.peak.total()) - walk_.peak.total();
    return std::move(walk_);
  }

 private:
  void add_accumulators(Bytes bytes) {
    held_[Held::kAccumulators] += bytes;
    total_ += bytes;
  }

  void add(const PassMemory& pass) {
    const Bytes before = total_;
    const Bytes total = pass.total ? before + *pass.total : 0_B;
    if (pass.total) walk_.reserved = std::max(walk_.reserved, before + pass.reserved);
    if (total > peak_total_) {
      peak_total_ = total;
      walk_.peak = held_;
      walk_.peak.add(pass.peak);
    }
    held_.add(pass.after);
    total_ += pass.added;
  }

  const std::vector<Slot>& slots_;
  Accumulators accumulators_;
  PassWalker passes_;
  HeldBytes held_;  // before the next pass
  Bytes total_;     // of it
  Bytes peak_total_;
  MemoryWalk walk_;
};

}  // namespace

std::string_view to_string(Held kind) {
  switch (kind) {
    case Held::kAccumulators: return "gradient accumulators";
    case Held::kLayers: return "layer activations";
    case Held::kEmbedding: return "embedding activations";
    case Held::kHead: return "logits";
    case Held::kRecomputed: return "recomputed layer";
    case Held::kGradients: return "activation gradients";
    case Held::kGathered: return "gathered parameters";
    case Held::kUnreduced: return "unreduced gradients";
  }
  return {};
}

Bytes HeldBytes::total() const {
  Bytes sum;
  for (const Bytes bytes : of) sum += bytes;
  return sum;
}

void HeldBytes::add(const HeldBytes& more) {
  for (std::size_t kind = 0; kind < kHeldKinds; ++kind) of[kind] += more.of[kind];
}

bool passes_repeat(const StepInputs& inputs) {
  const ParallelOptions& parallel = inputs.parallel;
  return !parallel.sharding.parameters && parallel.offload.activation_layers == 0 &&
         parallel.gradient_reduction != GradientReduction::kMicrobatchGroup;
}

MemoryWalk walk_memory(const StepInputs& inputs, const std::vector<ModelChunk>& parts, const std::vector<Slot>& slots) {
  return Walker(inputs, parts, release_first(slots)).walk();
}

}  // namespace ringwright::workload
