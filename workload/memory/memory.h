// The memory ledger: peak memory of each pipeline stage on one GPU, item by item.
//
// Model state per parameter with Adam: 2 (weights) + 4 (fp32 gradients) + 12 (fp32 master weights and two moments), the
// 12 divided by dp under ZeRO stage 1 (Megatron's distributed optimizer). Activations are listed tensor by tensor, as
// Korthikanti et al. (arXiv 2205.05198, section 4) do: with tensor parallelism sbh(10 + 24/t + 5as/(ht)) per layer.
// In-flight microbatches follow from a simulation of the pipeline schedule.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/evidence.h"
#include "core/base/units.h"
#include "core/config/config_map.h"
#include "workload/layout/stage_chunks.h"
#include "workload/options/step_inputs.h"

namespace ringwright::workload {

class KnownMemory;

// Values without a formula: from experience, to be measured where it matters.
struct MemoryAssumptions {
  Bytes cuda_context;          // context, libraries and their workspaces
  Bytes communicator;          // buffers of one communicator
  double fragmentation = 0.0;  // of activations and temporaries
  std::int64_t more_communicators = 0;  // in addition to one for each dimension of the layout
  Bytes largest_block;                  // of fragmented free memory; 0: it is not fragmented
};
[[nodiscard]] MemoryAssumptions read_memory_assumptions(ConfigMap& memory);

struct MemoryItem {
  std::string_view name;  // a literal
  Bytes bytes;
  Evidence evidence = Evidence::kVendorSpec;  // kVendorSpec: follows from sizes; kAssumed: one of the assumptions
};

struct StageMemory {
  int stage = 0;
  std::vector<MemoryItem> items;
  Bytes largest_weight;  // and its gradient: one allocation

  [[nodiscard]] Bytes total() const;
  // 0 for an absent item.
  [[nodiscard]] Bytes of(std::string_view name) const;
};

// The parameters whose state one rank of a stage updates.
[[nodiscard]] std::int64_t owned_parameters(const std::vector<ModelChunk>& parts, const StepInputs& inputs);

// By stage. `known`: of layouts before this one; null: none.
[[nodiscard]] std::vector<StageMemory> memory_ledger(const StepInputs& inputs, const MemoryAssumptions& assumptions,
                                                     KnownMemory* known = nullptr);

}  // namespace ringwright::workload
