// The port that says how long arithmetic takes.
#pragma once

#include "core/base/units.h"
#include "core/plan/kernel.h"

namespace ringwright {

class ComputeModel {
 public:
  virtual ~ComputeModel() = default;
  // Time of one launch of the kernel, launch overhead included.
  [[nodiscard]] virtual Duration duration(const Kernel& kernel) const = 0;
};

// All kernels of the work one after another.
[[nodiscard]] Duration duration(const ComputeModel& model, const Work& work);

}  // namespace ringwright
