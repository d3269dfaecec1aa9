// Bytes that ranks pass to collectives in a training step.
#pragma once

#include <cstdint>
#include <string>

#include "workload/step/step_builder.h"

namespace ringwright::workload {

// Of one rank of a stage, in a dimension; -1: no such dimension.
inline Bytes traffic(const StepPlan& plan, std::size_t stage, const std::string& dimension) {
  for (std::size_t d = 0; d < plan.graph.dimensions.size(); ++d) {
    if (plan.graph.dimensions[d].name == dimension) return plan.communication[stage][d];
  }
  return Bytes(-1);
}

// Of all all-gathers of the first rank.
inline std::int64_t gathered_bytes(const StepPlan& plan) {
  std::int64_t bytes = 0;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kCollective) continue;
    const CollectiveSpec& spec = plan.graph.collectives[task.detail];
    if (spec.kind == CollectiveKind::kAllGather) bytes += spec.bytes.count();
  }
  return bytes;
}

}  // namespace ringwright::workload
