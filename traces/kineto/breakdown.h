// Where the time of a rank's GPU went: computing, communication that is hidden or exposed, copies, and idle.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "traces/kineto/kernel_name.h"
#include "traces/kineto/kineto_trace.h"

namespace ringwright::traces {

// Of one span of time. computing + exposed + copying + idle = span.
struct TimeShares {
  std::string name;  // "ProfilerStep#7"; "trace" for all of it
  Duration span;
  Duration computing;      // some kernel that does not communicate runs, on any stream
  Duration communicating;  // some kernel that communicates runs
  Duration exposed;        // it communicates and does not compute
  Duration copying;        // it copies or sets memory, and neither computes nor communicates
  Duration idle;
};

struct FamilyTime {
  WorkFamily family = WorkFamily::kOther;
  std::size_t count = 0;
  Duration time;  // summed over kernels, also concurrent ones
};

struct KernelTime {
  std::string name;
  std::size_t count = 0;
  Duration time;
};

struct KinetoBreakdown {
  TimeShares whole;  // from the first activity of the GPU to the end of the last
  std::vector<TimeShares> steps;
  std::vector<FamilyTime> families;  // those that occur, by time
  std::vector<KernelTime> kernels;   // by time
  std::size_t streams = 0;
  std::size_t devices = 0;
  Duration copies, memsets;  // summed
  std::size_t copy_count = 0, memset_count = 0;
};

[[nodiscard]] KinetoBreakdown break_down(const KinetoTrace& trace);

}  // namespace ringwright::traces
