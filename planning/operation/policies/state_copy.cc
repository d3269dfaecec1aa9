#include "planning/operation/policies/state_copy.h"

#include <fmt/format.h>

#include "planning/operation/job_time.h"

namespace ringwright::planning {

JobTime read_state_copy(ConfigMap& map) {
  Bytes state;
  Bandwidth bandwidth;
  if (map.has("state") || map.documenting()) {
    state = map.bytes({.name = "state", .doc = "of one replica, which is copied", .min = Bytes(1)});
  }
  if (map.has("bandwidth") || map.documenting()) {
    bandwidth = map.bandwidth({.name = "bandwidth", .doc = "of the copy", .min = Bandwidth(1.0)});
  }
  if (map.has("state") != map.has("bandwidth")) {
    map.error("", "E405", fmt::format("'{}' has a state or a bandwidth, and the time of a copy needs both", map.path()),
              "as: {state: 100 GB, bandwidth: 25 GB/s}");
  }
  return bandwidth > Bandwidth() ? job_time(transfer_time(state, bandwidth)) : JobTime();
}

}  // namespace ringwright::planning
