#include "workload/memory/host_memory.h"

#include <algorithm>
#include <cmath>

#include "workload/layout/pipeline_order.h"
#include "workload/memory/memory_walk.h"
#include "workload/parallel/shard_units.h"
#include "workload/pipeline/schedule_check.h"

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

void add(std::vector<MemoryItem>& items, std::string_view name, double bytes) {
  if (bytes > 0.0) items.push_back({.name = name, .bytes = Bytes(std::llround(bytes))});
}

void add_optimizer(HostHoldings& holdings, const StepInputs& inputs, std::int64_t owned) {
  const OffloadOptions& offload = inputs.parallel.offload;
  if (offload.optimizer == Tier::kGpu) return;
  const double elements = std::round(offload.ratio * static_cast<double>(owned));
  const bool drives = offload.optimizer == Tier::kNvme;
  const double state = inputs.training.optimizer.state();
  add(drives ? holdings.drives : holdings.memory, "optimizer", state * elements);
  // One sub-group is read, one updated and one written at a time.
  const double moving = (offload.pipelined ? 3.0 : 1.0) * static_cast<double>(offload.sub_group);
  if (drives) add(holdings.memory, "optimizer in flight", state * std::min(elements, moving));
  const bool full = inputs.parallel.sharding.master_in_shard;  // FSDP's gradients are like its shards, in fp32
  add(holdings.memory, "gradients", (full ? 4.0 : bytes_per_element(inputs.training.precision)) * elements);
}

void add_parameters(HostHoldings& holdings, const StepInputs& inputs, const std::vector<StageUnits>& units) {
  const OffloadOptions& offload = inputs.parallel.offload;
  const ShardingOptions& sharding = inputs.parallel.sharding;
  if (offload.parameters == Tier::kGpu || sharding.master_in_shard) return;  // the shards are the optimizer's weights
  std::int64_t shards = 0;
  for (const StageUnits& set : units) {
    shards += set.units.kept(set.options.shard) - set.units.persistent();
  }
  add(offload.parameters == Tier::kNvme ? holdings.drives : holdings.memory, "parameters",
      bytes_per_element(inputs.training.precision) * static_cast<double>(shards));
}

}  // namespace

std::vector<HostHoldings> host_holdings(const StepInputs& inputs) {
  std::vector<HostHoldings> stages;
  if (!inputs.parallel.offload.any()) return stages;
  const PipelineOrder order = pipeline_order(inputs.parallel, inputs.training);
  for (int stage = 0; stage < inputs.parallel.pp; ++stage) {
    const std::vector<ModelChunk> parts = stage_chunks(inputs.shape, inputs.parallel, stage);
    HostHoldings& holdings = stages.emplace_back(HostHoldings{.stage = stage, .memory = {}, .drives = {}});
    add_optimizer(holdings, inputs, owned_parameters(parts, inputs));
    const std::vector<StageUnits> units = stage_units(parts, inputs.parallel);
    add_parameters(holdings, inputs, units);
    KnownGathers gathers;
    const MemoryWalk walk =
        MemoryWalker(inputs, parts, units, gathers).walk(release_first(order[static_cast<std::size_t>(stage)]));
    add(holdings.memory, "layer activations", static_cast<double>(walk.on_host.count()));
  }
  return stages;
}

}  // namespace ringwright::workload
