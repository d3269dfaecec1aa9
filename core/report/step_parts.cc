#include "core/report/step_parts.h"

#include <algorithm>
#include <cstdint>

namespace ringwright {
namespace {

// The times of kernel families are means over ranks, each rounded to a picosecond.
bool is_rounding(Duration difference, std::size_t means) {
  const auto most = static_cast<std::int64_t>(means) + 1;
  return difference.count() <= most && difference.count() >= -most;
}

}  // namespace

std::vector<StepPart> parts_of(const TimeBreakdown& breakdown, std::span<const KernelTime> kernels, Duration step) {
  std::vector<StepPart> parts;
  Duration sum;
  const auto add = [&](std::string cause, Duration time) {
    parts.push_back({.cause = std::move(cause), .time = time});
    sum += time;
  };
  Duration interference;
  for (const DimensionTime& dimension : breakdown.dimensions) {
    interference += dimension.compute_lost_to_sms + dimension.compute_lost_to_memory;
  }
  Duration nominal;
  for (const KernelTime& kernel : kernels) nominal += kernel.time;
  const Duration slowed = breakdown.computing - interference - nominal;
  if (kernels.empty()) {
    add("compute", breakdown.computing - interference);
  } else {
    for (const KernelTime& kernel : kernels) add("compute: " + kernel.family, kernel.time);
    if (is_rounding(slowed, kernels.size())) {
      std::ranges::max_element(parts, {}, &StepPart::time)->time += slowed;
      sum += slowed;
    } else {
      add("slowed hosts", slowed);
    }
  }
  if (interference != Duration()) add("interference", interference);
  for (const DimensionTime& dimension : breakdown.dimensions) add("exposed " + dimension.name, dimension.exposed);
  add("bubble and waiting", breakdown.idle);
  if (breakdown.data != Duration()) add("waiting for data", breakdown.data);
  if (breakdown.outer != Duration()) add("outer step", breakdown.outer);
  if (sum != step) add("unattributed", step - sum);
  return parts;
}

}  // namespace ringwright
