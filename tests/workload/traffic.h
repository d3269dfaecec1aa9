// Bytes that one rank of a stage passes to a dimension's collectives in a training step.
#pragma once

#include <string>

#include "workload/step/step_builder.h"

namespace ringwright::workload {

// -1: no such dimension.
inline Bytes traffic(const StepPlan& plan, std::size_t stage, const std::string& dimension) {
  for (std::size_t d = 0; d < plan.graph.dimensions.size(); ++d) {
    if (plan.graph.dimensions[d].name == dimension) return plan.communication[stage][d];
  }
  return Bytes(-1);
}

}  // namespace ringwright::workload
