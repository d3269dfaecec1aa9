// The port for collectives as a formula instead of messages: the time of a call once its last member has joined.
#pragma once

#include "core/base/units.h"
#include "core/plan/collective_call.h"

namespace ringwright {

class CollectiveTime {
 public:
  virtual ~CollectiveTime() = default;
  [[nodiscard]] virtual Duration time(const CollectiveCall& call) const = 0;
  // Bytes that a member sends in it, for the report.
  [[nodiscard]] virtual Bytes sent(const CollectiveCall& call) const = 0;
};

}  // namespace ringwright
