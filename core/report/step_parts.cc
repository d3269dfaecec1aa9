#include "core/report/step_parts.h"

namespace ringwright {

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
    if (slowed != Duration()) add("slowed hosts", slowed);
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
