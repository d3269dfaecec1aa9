// What the processor of a rank pays when a library sends the messages of a collective step by step, as MPI does, beside
// their way over the network.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/units.h"

namespace ringwright {

// All zero: nothing, the network is all there is.
struct StepCosts {
  Duration message;       // of each message sent, one after another (LogP's overhead; Culler et al., PPoPP 1993)
  Bytes eager;            // larger messages wait for the receiver's consent first
  Duration rendezvous;    // to get it
  Bandwidth reduce_rate;  // bytes that one rank adds to its own in a second; 0: at once

  [[nodiscard]] bool free() const {
    return message == Duration() && rendezvous == Duration() && !(reduce_rate > Bandwidth(0.0));
  }
  friend bool operator==(const StepCosts&, const StepCosts&) = default;
  // From the beginning of a step until its send number `index` leaves.
  [[nodiscard]] Duration before_send(std::size_t index, Bytes size) const {
    return message * static_cast<std::int64_t>(index + 1) + (size > eager ? rendezvous : Duration());
  }
};

}  // namespace ringwright
