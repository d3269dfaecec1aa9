// A symbolic proof of a channel algorithm for one call: thread blocks run over queues of 8 slots without a clock, and
// every memory cell tracks whose contributions it holds.
//
// A network of thread blocks that read queues in a fixed order gives one result for every execution order (Kahn, 1974),
// as long as blocks of one member do not race for a cell. So it runs in two opposite orders: both must end, with the
// right data, with empty queues, and both ends of a queue must agree on every message.
#pragma once

#include <string>
#include <vector>

#include "core/ports/channel_algorithm.h"

namespace ringwright::collectives {

struct ChannelProof {
  std::string violation;        // empty when it holds
  std::vector<Bytes> sent;      // by member, padding included; multicast counts once
  std::vector<Bytes> received;  // by member; a sum fetched from a switch counts once
  Bytes padding;                // of all messages, beyond the data that they carry
  std::int64_t messages = 0;

  [[nodiscard]] bool holds() const { return violation.empty(); }
};

[[nodiscard]] ChannelProof prove(const ChannelAlgorithm& algorithm, const CollectiveCall& call,
                                 const CollectivePlan& plan);

// "ring of all_reduce, 300007 bytes, 12 ranks on 3 hosts, ll, 4 channels": for messages.
[[nodiscard]] std::string describe(const ChannelAlgorithm& algorithm, const CollectiveCall& call,
                                   const CollectivePlan& plan);

}  // namespace ringwright::collectives
