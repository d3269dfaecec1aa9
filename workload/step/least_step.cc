#include "workload/step/least_step.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <vector>

#include "core/base/check.h"
#include "workload/layout/known_layouts.h"
#include "workload/layout/stage_chunks.h"
#include "workload/parallel/step_streams.h"
#include "workload/pipeline/timeline.h"
#include "workload/step/point_writer.h"
#include "workload/step/stage_replicas.h"

namespace ringwright::workload {
namespace {

constexpr std::int64_t kMostPassesFollowed = 1 << 18;  // whose order is followed

// Whether every rank of a stage computes the same, and whole kernels.
bool computes_evenly(const StepInputs& inputs) {
  const ParallelOptions& parallel = inputs.parallel;
  const bool even_context = parallel.cp == 1 || parallel.context_balanced;
  const bool whole = !parallel.tensor_overlap.on && !parallel.sharding.tiling.on();
  return even_context && whole && parallel.meshes.empty() && parallel.experts.load.empty() &&
         parallel.replica_microbatches.empty();
}

void add_times(PassTimes& sum, const PassTimes& other) {
  sum.forward += other.forward;
  sum.input += other.input;
  sum.weight += other.weight;
}

constexpr PassTimes kNoTimes{.forward = 0, .input = 0, .weight = 0};

// Exchanges of experts during passes of other microbatches lengthen no pass.
bool exchanges_in_passes(const ParallelOptions& parallel) { return !parallel.experts.overlap_exchange; }

// Picoseconds of the paths through the points of a step.
class PointTimes {
 public:
  PointTimes(const StepInputs& inputs, const ComputeModel& compute, const LeastCallTime& calls, KnownLayouts* known)
      : inputs_(inputs),
        compute_(compute),
        calls_(calls),
        context_(make_kernel_context(inputs.shape, inputs.training, inputs.parallel)),
        in_passes_(exchanges_in_passes(inputs.parallel) ? calls : LeastCallTime()),
        known_(known != nullptr ? known->point_times
                                      .find(number_of(context_), {.context = context_,
                                                                  .exchange = inputs.parallel.context_exchange,
                                                                  .balanced = inputs.parallel.context_balanced,
                                                                  .calls = static_cast<bool>(calls)})
                                      .value
                                : own_) {}

  [[nodiscard]] const PassTimes& of(PointKind kind) {
    const auto [known, is_new] = known_.try_emplace(kind);
    if (!is_new) return known->second;
    PointWriter& points = writers().points;
    const Duration whole = time([&](ProgramWriter& writer) { points.backward(writer, kind, Pass::kBackward); });
    const Duration inputs = time([&](ProgramWriter& writer) { points.backward(writer, kind, Pass::kInputGradient); });
    const Duration weights = time([&](ProgramWriter& writer) { points.backward(writer, kind, Pass::kWeightGradient); });
    // A whole backward pass, and both halves of one, take at least their sum.
    known->second = {.forward = time([&](ProgramWriter& writer) { points.forward(writer, kind); }).count(),
                     .input = std::min(inputs, whole).count(),
                     .weight = std::min(weights, whole - std::min(inputs, whole)).count()};
    return known->second;
  }

  // After the last pass of the first stage: gradients are summed, and parameters gathered.
  [[nodiscard]] Duration exchange_at_end() {
    const ParallelOptions& parallel = inputs_.parallel;
    const bool by_rule = !parallel.sharding.parameters && !parallel.offload.any() && parallel.flushes() &&
                         !inputs_.training.local_sgd.on();
    if (!calls_ || !by_rule) return {};
    Writers& with = writers();
    const StepStreams& streams = with.streams;
    HostTraffic host(context_, parallel.offload, streams.host);
    StageReplicas replicas(with.sections, parallel, stage_chunks(inputs_.shape, parallel, 0), {}, streams, host);
    const bool reduced_before =
        parallel.overlap_grad_reduce || parallel.gradient_reduction != GradientReduction::kLastMicrobatch;
    return PiecePath(with.tables, compute_, calls_, streams.stream_count).of([&](ProgramWriter& writer) {
      if (!reduced_before) replicas.finish_gradients(writer);
      replicas.end_step(writer);
      for (const std::optional<CommStream>& stream : {streams.data.replicas, streams.expert_data}) {
        if (stream) writer.wait(writer.collective(*stream, kNothing, "end of the step"));
      }
    });
  }

 private:
  static constexpr CollectiveSpec kNothing{.kind = CollectiveKind::kAllReduce, .bytes = Bytes(0)};

  // Most layouts know all points.
  struct Writers {
    Writers(const StepInputs& inputs, const KernelContext& context)
        : sections(tables, context),
          streams(streams_without_groups(inputs.shape, inputs.parallel)),
          points(sections, inputs.parallel, streams, 0) {}

    GraphTables tables;
    SectionTable sections;
    StepStreams streams;
    PointWriter points;
  };
  [[nodiscard]] Writers& writers() {
    if (!writers_) writers_.emplace(inputs_, context_);
    return *writers_;
  }
  [[nodiscard]] Duration time(const PiecePath::Write& write) {
    return PiecePath(writers().tables, compute_, in_passes_, writers().streams.stream_count).of(write);
  }

  const StepInputs& inputs_;
  const ComputeModel& compute_;
  const LeastCallTime& calls_;
  KernelContext context_;
  std::optional<Writers> writers_;
  LeastCallTime in_passes_;
  std::map<PointKind, PassTimes> own_;
  std::map<PointKind, PassTimes>& known_;
};

// The passes through model chunks, in model order.
class PartTimes {
 public:
  PartTimes(const StepInputs& inputs, PointTimes& points) : inputs_(inputs), points_(points) {}

  [[nodiscard]] std::vector<PassTimes> all() {
    const ParallelOptions& parallel = inputs_.parallel;
    std::vector<PassTimes> parts;
    std::int64_t layer = 0;
    for (std::size_t number = 0; number < parallel.layers_per_part.size(); ++number) {
      const bool head = number + 1 == parallel.layers_per_part.size();
      again_ = recomputed(parallel.layers_per_part[number]);
      PassTimes part = kNoTimes;
      if (number == 0) add_times(part, points_.of(PointKind::kEmbedding));
      for (std::int64_t left = parallel.layers_per_part[number]; left > 0; --left) add_layer(part, layer++);
      if (head) add_head(part);
      parts.push_back(part);
    }
    return parts;
  }

 private:
  // The first layers of the chunk whose forward pass is repeated; those of multi-token prediction are the last ones.
  [[nodiscard]] std::int64_t recomputed(std::int64_t layers) const {
    const TrainingOptions& training = inputs_.training;
    // Ahead of the gradient's arrival it may fill what is otherwise idle.
    if (training.recompute != Recompute::kFull || inputs_.parallel.recompute_ahead) return 0;
    if (training.full.method == RecomputeMethod::kUniform) return layers + inputs_.shape.predictors;
    return std::min<std::int64_t>(training.full.layers, layers);
  }

  void add_layer(PassTimes& part, std::int64_t layer) {
    const ModelShape& shape = inputs_.shape;
    const LayerHalves halves = halves_of(shape, layer);
    PassTimes both = kNoTimes;
    switch (halves.mixer) {
      case Mixer::kAttention:
        add_times(both, points_.of(is_windowed(shape, layer) ? PointKind::kWindowedAttention : PointKind::kAttention));
        break;
      case Mixer::kMamba: add_times(both, points_.of(PointKind::kMamba)); break;
      case Mixer::kDeltaNet: add_times(both, points_.of(PointKind::kDeltaNet)); break;
      case Mixer::kNone: break;
    }
    switch (halves.mlp) {
      case MlpKind::kDense: add_times(both, points_.of(PointKind::kMlp)); break;
      case MlpKind::kExperts: add_times(both, points_.of(PointKind::kExperts)); break;
      case MlpKind::kNone: break;
    }
    add_times(part, both);
    if (again_-- > 0) part.input += both.forward;
  }

  void add_head(PassTimes& part) {
    for (std::int64_t number = 0; number < inputs_.shape.predictors; ++number) {
      add_times(part, points_.of(PointKind::kPredictor));
      add_layer(part, inputs_.shape.layers + number);
      add_times(part, points_.of(PointKind::kPredictorHead));
    }
    add_times(part, points_.of(PointKind::kHead));
  }

  const StepInputs& inputs_;
  PointTimes& points_;
  std::int64_t again_ = 0;  // layers that are left to recompute
};

// With two copies of the model each processes half of the microbatches.
Duration busiest_stage(const ParallelOptions& parallel, const std::vector<PassTimes>& parts,
                       std::int64_t microbatches) {
  if (parallel.placement == Placement::kBidirectional) microbatches /= 2;
  Duration busiest;
  for (int stage = 0; stage < parallel.pp; ++stage) {
    Duration busy;
    for (int chunk = 0; chunk < parallel.virtual_stages; ++chunk) {
      const int part = part_at(parallel.pipeline(), {.stage = stage, .chunk = chunk});
      const PassTimes& times = parts[static_cast<std::size_t>(part)];
      busy += Duration(times.forward + times.input + times.weight) * microbatches;
    }
    busiest = std::max(busiest, busy);
  }
  return busiest;
}

}  // namespace

std::optional<Duration> least_step(const StepInputs& inputs, const ComputeModel& compute, const LeastCallTime& calls,
                                   KnownLayouts* known) {
  if (!computes_evenly(inputs)) return std::nullopt;
  const ParallelOptions& parallel = inputs.parallel;
  PointTimes points(inputs, compute, calls, known);
  const std::vector<PassTimes> parts = PartTimes(inputs, points).all();
  const std::int64_t microbatches = parallel.microbatches(inputs.training);
  if (2 * parallel.pp * parallel.virtual_stages * microbatches > kMostPassesFollowed || !parallel.flushes()) {
    return busiest_stage(parallel, parts, microbatches);
  }
  LastOrder own_order;
  const auto ends = (known != nullptr ? known->order : own_order).ends(parallel, inputs.training, parts);
  CHECK(ends.has_value(), "the order of a layout that was read is valid");
  return std::max(Duration(ends->last), Duration(ends->first_stage) + points.exchange_at_end());
}

}  // namespace ringwright::workload
