// What a report says of a checkpoint in the simulated step.
//
//   stall    mean step time with the checkpoint minus that without
//   within   stored before the step has ended; otherwise after `steps` of them, whole ones, the least interval between
//            two checkpoints
#pragma once

#include <cstdint>
#include <string>

#include "core/report/report.h"

namespace ringwright {

// Of a report with a checkpoint.
[[nodiscard]] bool ends_within_step(const Report& report);
[[nodiscard]] std::int64_t steps_until_stored(const Report& report);

// "12.60 GB per GPU to host_memory, async: 262.5 ms, within the step; stall 0 ps (+0.00 %)"
[[nodiscard]] std::string checkpoint_line(const Report& report);

}  // namespace ringwright
