// The port for collectives that are a formula instead of messages: how long a call takes once its last member has come.
#pragma once

#include "core/base/units.h"
#include "core/plan/collective_call.h"

namespace ringwright {

class CollectiveTime {
 public:
  virtual ~CollectiveTime() = default;
  [[nodiscard]] virtual Duration time(const CollectiveCall& call) const = 0;
  // What a member sends in it, for the report.
  [[nodiscard]] virtual Bytes sent(const CollectiveCall& call) const = 0;
};

}  // namespace ringwright
