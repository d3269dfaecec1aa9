// The step time as a sum of causes in whole picoseconds, for differences that add up exactly.
//
//   compute: FAMILY     time of a family of kernels at nominal speed, a mean over ranks
//   slowed hosts        additional computing time of hosts that compute slowly, with what rounding leaves
//   interference        additional computing time because communication shares the GPU
//   exposed DIMENSION   as in the time breakdown
//   bubble and waiting  time in which a rank neither computes nor communicates
//   unattributed        the step time minus the rest, where steps are not identical; usually absent
#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/report/report.h"

namespace ringwright {

struct StepPart {
  std::string cause;
  Duration time;
  friend bool operator==(const StepPart&, const StepPart&) = default;
};

// The times add up to `step`, exactly.
[[nodiscard]] std::vector<StepPart> parts_of(const TimeBreakdown& breakdown, std::span<const KernelTime> kernels,
                                             Duration step);

}  // namespace ringwright
