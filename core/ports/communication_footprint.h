// The port for what communication occupies of a participating GPU: multiprocessors (SMs) and memory bandwidth.
#pragma once

#include "core/plan/collective_call.h"
#include "core/plan/task_graph.h"
#include "core/ports/compute_model.h"

namespace ringwright {

// Thread blocks of a collective spin on their multiprocessors from the launch of the call to its end, with or without
// data; memory bandwidth is used only while data move.
class CommunicationFootprint {
 public:
  virtual ~CommunicationFootprint() = default;
  [[nodiscard]] virtual Contention of(const CollectiveCall& call) const = 0;
  // Of the sender, or of the receiver, of a message in a group of this dimension.
  [[nodiscard]] virtual Contention of(const MessageSpec& message, DimensionId dimension, RankId rank) const = 0;
};

}  // namespace ringwright
