// A job's state between two layouts: what each host must fetch when the hosts that are left divide it anew (the
// parallelisable tensor collection of Tenplex, Wagenlander et al., SOSP 2024).
//
// A replica's state is the interval [0, 1), of which the i-th of m hosts holds [i / m, (i + 1) / m). A host fetches
// what it needs and does not hold, from any replica: the smallest number of bytes that the new layout allows.
#pragma once

#include <cstdint>
#include <span>

#include "planning/operation/operation.h"

namespace ringwright::planning {

struct HostLayout {
  std::int64_t replicas = 1;
  std::int64_t hosts_per_replica = 1;
  [[nodiscard]] std::int64_t hosts() const { return replicas * hosts_per_replica; }
};

// Of as many replicas as before, or fewer, with at least `least` hosts each; no replicas: there are too few hosts.
[[nodiscard]] HostLayout layout_over(const JobShape& job, std::int64_t hosts, std::int64_t least);

struct Resharding {
  bool is_complete = true;  // every part of the state is left on some host
  double moved = 0.0;       // of all hosts together, in states of a replica
  double largest = 0.0;     // of one host
};

// From the job's own layout to another one over the hosts that are left, in their order.
[[nodiscard]] Resharding reshard(const JobShape& job, std::span<const std::int64_t> empty, const HostLayout& to);

}  // namespace ringwright::planning
