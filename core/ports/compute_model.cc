#include "core/ports/compute_model.h"

namespace ringwright {

Duration duration(const ComputeModel& model, const Work& work) {
  Duration total;
  for (const Kernel& kernel : work.kernels) total += model.duration(kernel) * kernel.launches;
  return total;
}

}  // namespace ringwright
