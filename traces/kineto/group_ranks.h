// The ranks of a process group, rebuilt where the profiler cut the list, or wrote none.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "traces/kineto/kineto_event.h"

namespace ringwright::traces {

// What a trace says about one group.
struct GroupHints {
  std::string_view listed;  // "[0, 1, ..., 63]"
  std::int64_t size = 0;
  std::optional<std::int64_t> start, stride;
  const ProcessGroupConfig* config = nullptr;
};

// Empty list: nothing is known. Nothing: the list is cut and what else is known does not complete it.
[[nodiscard]] std::optional<std::vector<int>> ranks_of_group(const GroupHints& hints);

}  // namespace ringwright::traces
