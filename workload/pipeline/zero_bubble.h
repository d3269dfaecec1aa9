// The common form of handcrafted zero-bubble schedules: 1F1B with more forward passes ahead and delayed weight
// gradients.
#pragma once

#include "workload/pipeline/schedule.h"

namespace ringwright::workload {

// Stage i runs lead (p-1-i) forward passes before its first pair of forward and backward, and its weight gradients lag
// lead * i microbatches behind the gradients of its inputs, so that all stages hold the same number of microbatches.
[[nodiscard]] PipelineOrder handcrafted_zero_bubble(const ScheduleRequest& request, int lead);

}  // namespace ringwright::workload
