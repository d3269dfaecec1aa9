// Kernels that take no time and that no framework issues: for runs of communication alone.
#pragma once

#include "core/ports/compute_model.h"

namespace ringwright::configs {

class FreeCompute final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& /*kernel*/) const override { return {}; }
};

}  // namespace ringwright::configs
