#include "workload/memory/known_memory.h"

#include <utility>

#include "workload/layout/known_layouts.h"
#include "workload/parallel/tiled_uses.h"

namespace ringwright::workload {
namespace {

void add_units(const StageUnits& stage, const std::vector<ModelChunk>& parts, std::vector<std::int64_t>& key) {
  const ShardingOptions& options = stage.options;
  key.insert(key.end(), {options.prefetch, options.max_live, options.max_reuse_distance,
                         static_cast<std::int64_t>(options.backward_prefetch), options.reshard_after_backward ? 1 : 0,
                         std::ssize(stage.units.units())});
  for (const ShardUnit& unit : stage.units.units()) {
    key.insert(key.end(), {unit.elements, unit.padded, unit.matrices, (unit.kept ? 2 : 0) + (unit.tile ? 1 : 0)});
  }
  for (std::size_t chunk = 0; chunk < parts.size(); ++chunk) {
    const std::size_t points = stage.units.points(static_cast<int>(chunk));
    key.push_back(static_cast<std::int64_t>(points));
    for (std::size_t point = 0; point < points; ++point) {
      key.push_back(static_cast<std::int64_t>(stage.units.unit_at(static_cast<int>(chunk), point)));
    }
  }
}

// Tiles are used again where layers are recomputed.
void add_recomputed(const KnownGathers::Passes& passes, std::vector<std::int64_t>& key) {
  const TrainingOptions& training = passes.training;
  key.insert(key.end(), {static_cast<std::int64_t>(training.recompute), static_cast<std::int64_t>(training.full.method),
                         training.full.layers});
  for (const ModelChunk& part : passes.parts) {
    for (const PointKind kind : part.points) key.push_back(static_cast<std::int64_t>(kind));
  }
}

std::vector<std::int64_t> key_of(const StageUnits& stage, const KnownGathers::Passes& passes) {
  std::vector<std::int64_t> key;
  key.reserve(16 + 4 * stage.units.units().size() + 256 * passes.parts.size() + passes.slots.size());
  add_units(stage, passes.parts, key);
  if (stage.units.has_tiles()) add_recomputed(passes, key);
  key.push_back(std::ssize(passes.cycles));
  for (const std::size_t begin : passes.cycles) key.push_back(static_cast<std::int64_t>(begin));
  for (const Slot& slot : passes.slots) key.push_back(4 * slot.chunk + static_cast<std::int64_t>(slot.pass));
  return key;
}

}  // namespace

const GatherSchedule& KnownGathers::of(const StageUnits& stage, const Passes& passes) {
  std::vector<std::int64_t> key = key_of(stage, passes);
  auto known = known_.find(key);
  if (known == known_.end()) {
    GatherSchedule schedule(stage.units, stage.options,
                            uses_of(stage.units, passes.parts, passes.training, passes.slots), passes.cycles);
    known = known_.emplace(std::move(key), std::move(schedule)).first;
  }
  return known->second;
}

StageContents stage_contents(const StepInputs& inputs, int stage) {
  StageContents contents{.parts = stage_chunks(inputs.shape, inputs.parallel, stage), .units = {}};
  contents.units = stage_units(contents.parts, inputs.parallel);
  return contents;
}

void KnownMemory::begin(const StepInputs& inputs) {
  std::optional<OrderKey> key;
  if (!inputs.parallel.listed) key = order_key(inputs.parallel, inputs.training);
  if (key && key == key_) return;
  key_ = std::move(key);
  gathers_.forget();
  contents_ = {};
  walks_ = {};
}

const StageContents& KnownMemory::contents(const StepInputs& inputs, int stage) {
  const ParallelOptions& parallel = inputs.parallel;
  ContentsKey key{.stage = stage,
                  .tp = parallel.tp,
                  .ep = parallel.experts.ep,
                  .etp = parallel.experts.etp,
                  .expert_replicas = parallel.expert_replicas(),
                  .sharding = parallel.sharding,
                  .layers_per_part = parallel.layers_per_part};
  const auto number = static_cast<std::size_t>((key.stage * 4096 + key.tp) * 64 + key.ep);
  const auto [known, is_new] = contents_.find(number, key);
  if (is_new) known = std::make_unique<StageContents>(stage_contents(inputs, stage));
  return *known;
}

std::vector<MemoryWalk>& KnownMemory::walks(const StepInputs& inputs) {
  WalkKey key{.context = make_kernel_context(inputs.shape, inputs.training, inputs.parallel),
              .layers_per_part = inputs.parallel.layers_per_part};
  const std::size_t number = number_of(key.context);
  return walks_.find(number, key).value;
}

}  // namespace ringwright::workload
