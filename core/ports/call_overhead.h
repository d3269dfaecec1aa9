// The port for the overhead of a collective or a message in addition to its bytes on wires: kernels that are launched,
// wait for flags and copy.
#pragma once

#include <cstdint>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/collective_call.h"

namespace ringwright {

// A message, and the ranks at its ends.
struct MessageBetween {
  MessageCall call;
  RankId sender;
  RankId receiver;
};

class CallOverhead {
 public:
  virtual ~CallOverhead() = default;
  // From a member's call to the start of its first step.
  [[nodiscard]] virtual Duration of(const CollectiveCall& call) const = 0;
  // From the sender's call until the message leaves.
  [[nodiscard]] virtual Duration of(const MessageBetween& message) const = 0;
  // A number for the ends of a message: between ends of one number, messages of any one size have the same overhead.
  [[nodiscard]] virtual std::uint64_t ends(const MessageBetween& message) const {
    return (std::uint64_t{message.sender.value} << 32U) | message.receiver.value;
  }
};

}  // namespace ringwright
