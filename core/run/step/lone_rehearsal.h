// The collectives of a run's segments as kernels run them, for passes as one event each.
#pragma once

#include <optional>

#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/run/alone/lone_calls.h"
#include "core/run/shortcuts/rehearsed_calls.h"

namespace ringwright {

// Empty: a call does not end alone. `lone` outlives the result.
[[nodiscard]] std::optional<RehearsedCalls> lone_calls_of_segments(const TaskGraph& graph, const RankClasses& classes,
                                                                   LoneCalls& lone);

}  // namespace ringwright
