// The files of a simulated step: Chakra execution traces, a GOAL schedule.
#pragma once

#include <string>

#include "configs/simulation/step_traces.h"
#include "core/base/diagnostic.h"

namespace ringwright::tools {

// Empty: not written.
struct StepFiles {
  std::string chakra;  // PREFIX of PREFIX.RANK.et and PREFIX.groups.json
  std::string goal;    // the binary form when it ends in .bin
};

// A line for each, with the warnings of the schedule. Errors: what GOAL cannot express, and files that cannot be
// written (E625).
[[nodiscard]] Result<std::string> write_step(const configs::StepTraces& step, const StepFiles& files);

}  // namespace ringwright::tools
