// Training with parameter servers, where each worker repeats its step at its own speed: pushes and pulls over a
// network, queues at the servers, and how stale the parameters are that workers compute with.
//
// A worker computes, pushes the gradient of each bucket once it is complete, and pulls the bucket's new parameters as
// its servers' reply. Buckets follow each other on the connection of a worker and a server, so that one is pulled while
// the next one is pushed. Its next step begins when all of its buckets are back. Every server has an equal part of each
// bucket, and threads that take pushes in the order of their arrival (an M/D/c queue where arrivals are random). A
// thread is busy with a push for a constant time, for its bytes and those of the reply at the rate of remote procedure
// calls (eRPC: Kalia et al., NSDI 2019, of one core), and for the update. Modes:
//
//     synchronous        a reply follows the pushes of all workers (Li et al., OSDI 2014, section 3; BSP)
//     asynchronous       a reply follows the push (Dean et al., NIPS 2012)
//     stale-synchronous  the same, but a worker that is more than s steps ahead of the slowest waits (Ho et al., NIPS
//                        2013); those that compute faster than the slowest begin s steps ahead, where they come to in
//                        the end
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/engine/engine.h"
#include "core/ports/network_model.h"
#include "core/run/servers/steady_window.h"

namespace ringwright {

struct ServerBucket {
  Duration ready;  // from the start of a step until its gradient is complete
  Bytes bytes;
};

struct ServerPlan {
  std::vector<std::vector<RankId>> workers;  // by worker: its GPUs; each pushes and pulls an equal part
  std::vector<std::vector<RankId>> servers;  // by server: as many, the other ends of these messages
  std::vector<double> slowdown;              // by worker, of its computing; empty: 1 for all
  Duration step;                             // computing of a step
  std::vector<ServerBucket> buckets;
  bool synchronous = false;
  std::optional<std::int64_t> staleness;  // bound on how far workers may be apart; empty: none
  // Steps that a worker may begin before the parameters of an earlier one are back: embeddings of Persia (Lian et al.,
  // KDD 2022), whose lookups and updates overlap with the dense layers.
  std::int64_t outstanding = 0;
  Bandwidth update_rate;  // at which one thread of a server applies pushed bytes
  Duration request;       // of a thread for each push, besides
  std::int64_t threads = 1;
  Duration rpc_latency;       // of a push and its reply, half of it each
  Bandwidth rpc_thread_rate;  // of the bytes that a thread takes and sends; 0: no bound
  int warmup = 1;             // steps of the slowest worker that do not count
  int steps = 1;              // that do, in the first window
  CountUntil until = CountUntil::kGiven;
};

struct WorkerFigures {
  std::uint64_t steps = 0;  // that end in the time that counts
  TimePoint first_end;      // of these
  TimePoint last_end;
  Duration waiting;     // of that: for the bound on staleness
  Duration exchanging;  // for parameters, once its computing has ended

  // Between its own ends of steps: whole steps in a time that is none of their multiples would be too few or too many.
  [[nodiscard]] double steps_per_second(Duration counted) const;
};

struct ServerFigures {
  double busy = 0.0;  // share of its threads' time
  std::uint64_t longest_queue = 0;
};

struct ServerRunResult {
  bool finished = false;
  Duration counted;  // the time that counts
  std::vector<WorkerFigures> workers;
  std::vector<ServerFigures> servers;
  // By number: pushes (of the last bucket, at the first server) that found so many updates of others applied since the
  // worker had pulled.
  std::vector<std::uint64_t> staleness;
  std::vector<LinkUsage> usage;
  std::uint64_t events = 0;

  [[nodiscard]] double steps_per_second() const { return steps_per_second(counted); }
  [[nodiscard]] double steps_per_second(Duration time) const;
  [[nodiscard]] double mean_staleness() const;
};

[[nodiscard]] ServerRunResult run_servers(Engine& engine, NetworkModel& network, const ServerPlan& plan);

}  // namespace ringwright
