// The port for what a collective costs beside its messages: kernels that are launched, wait for flags and copy.
#pragma once

#include "core/base/units.h"
#include "core/plan/collective_call.h"

namespace ringwright {

class CallOverhead {
 public:
  virtual ~CallOverhead() = default;
  // From a member's call until its first step begins.
  [[nodiscard]] virtual Duration of(const CollectiveCall& call) const = 0;
};

}  // namespace ringwright
