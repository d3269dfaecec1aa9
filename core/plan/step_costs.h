// CPU costs of a rank when a library sends the messages of a collective step by step, as MPI does, in addition to their
// time on the network.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/units.h"

namespace ringwright {

// All zero: only the network costs time.
struct StepCosts {
  Duration message;       // of each message sent, one after another (LogP's overhead; Culler et al., PPoPP 1993)
  Bytes eager;            // larger messages wait for the receiver's handshake first
  Duration rendezvous;    // time of the handshake
  Bandwidth reduce_rate;  // rate at which one rank adds received bytes to its own; 0: at once
  Bandwidth copy_rate;    // rate at which one rank copies a message to a socket before it is sent; 0: no copy

  [[nodiscard]] bool free() const {
    return message == Duration() && rendezvous == Duration() && !(reduce_rate > Bandwidth(0.0)) &&
           !(copy_rate > Bandwidth(0.0));
  }
  friend bool operator==(const StepCosts&, const StepCosts&) = default;
  // From the start of a step until its send number `index` leaves.
  [[nodiscard]] Duration before_send(std::size_t index, Bytes size) const {
    const Duration copied = copy_rate > Bandwidth(0.0) ? transfer_time(size, copy_rate) : Duration();
    return (message + copied) * static_cast<std::int64_t>(index + 1) + (size > eager ? rendezvous : Duration());
  }
};

}  // namespace ringwright
