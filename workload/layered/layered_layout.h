// Which ranks train a layer table, and which hosts are its parameter servers.
#pragma once

#include <cstdint>

#include "core/base/units.h"
#include "core/plan/collective_call.h"

namespace ringwright::workload {

// When servers apply what is pushed: once the pushes of all workers have arrived; each as it arrives; or so, while no
// worker is more than `staleness` steps ahead of the slowest (stale-synchronous: Ho et al., NIPS 2013).
enum class ServerUpdates : std::uint8_t { kSync, kAsync, kStaleSync };

struct ServerService {
  ServerUpdates updates = ServerUpdates::kSync;
  std::int64_t staleness = 3;
  Duration request;          // time of a server's thread for each message, besides the update
  std::int64_t threads = 4;  // of a server, that update at the same time
  // Of the library for remote procedure calls: of a call and its reply, besides wires; and of the bytes that a thread
  // takes and sends (0: no bound).
  Duration rpc_latency;
  Bandwidth rpc_thread_rate;
};

struct LayeredLayout {
  std::int64_t ranks = 1;       // of the job
  std::int64_t host_ranks = 1;  // of each host; used with parameter servers
  ParameterServers servers;     // the last hosts; none: gradients are all-reduced
  ServerService service = {};   // of these

  // Ranks with a copy of all layers, the first ones.
  [[nodiscard]] std::int64_t workers() const {
    return ranks - (servers.dedicated ? servers.count * host_ranks : 0);
  }
  [[nodiscard]] bool is_server(std::int64_t rank) const { return rank >= ranks - servers.count * host_ranks; }
};

}  // namespace ringwright::workload
