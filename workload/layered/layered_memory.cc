#include "workload/layered/layered_memory.h"

namespace ringwright::workload {

StageMemory layered_memory(const LayeredModel& model, const LayeredLayout& layout,
                           const MemoryAssumptions& assumptions) {
  StageMemory memory;
  const auto add = [&](std::string_view name, double bytes, Evidence evidence) {
    if (bytes > 0.0) {
      memory.items.push_back({.name = name, .bytes = scale(Bytes(1), bytes), .evidence = evidence});
    }
  };
  const double weights = static_cast<double>(parameter_count(model)) * kLayerWeightBytes;
  add("weights", weights, Evidence::kVendorSpec);
  add("gradients", weights, Evidence::kVendorSpec);
  // DistributedDataParallel's gradients are views of its buckets, which hold them once.
  const bool on_servers = layout.servers.count > 0;
  add("optimizer state", on_servers ? 0.0 : weights * state_values(model.optimizer), Evidence::kVendorSpec);
  double elements = static_cast<double>(model.layers.front().inputs);
  for (const LayerRow& row : model.layers) elements += static_cast<double>(row.count) * saved_elements(row);
  const double samples = static_cast<double>(model.global_batch) / static_cast<double>(layout.workers());
  const double saved = samples * elements * bytes_per_element(model.precision);
  add("activations", saved, Evidence::kVendorSpec);
  add("fragmentation", saved * assumptions.fragmentation, Evidence::kAssumed);
  add("CUDA context", static_cast<double>(assumptions.cuda_context.count()), Evidence::kAssumed);
  const std::int64_t own = layout.ranks > 1 ? 1 : 0;
  add("communicators",
      static_cast<double>((assumptions.communicator * (own + assumptions.more_communicators)).count()),
      Evidence::kAssumed);
  return memory;
}

}  // namespace ringwright::workload
