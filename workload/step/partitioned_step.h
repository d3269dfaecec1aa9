// Rewrites the collectives of a step as smaller ones: Centauri's partition space (Chen et al., ASPLOS 2024).
//
//   substitution   all-reduce(B) = reduce-scatter(B), all-gather(B)
//   hierarchy      of groups with g ranks on each of several hosts, "within" a host and "across" the hosts:
//                  all-reduce(B)     = reduce-scatter(B) within, all-reduce(B / g) across, all-gather(B) within
//                  reduce-scatter(B) = reduce-scatter(B) within, reduce-scatter(B / g) across
//                  all-gather(B)     = all-gather(B / g) across, all-gather(B) within
//   chunks         each of these is c of them with B / c bytes, and their parts run as a pipeline: one stream for each
//                  part, on which chunks follow each other
//
// What a group sums or gathers is the same. Others than these three are only divided into chunks. Whoever waited for
// the collective waits for the last part of its last chunk.
#pragma once

#include <cstdint>
#include <span>

#include "workload/options/partition_options.h"
#include "workload/step/step_builder.h"

namespace ringwright::workload {

// Whether the groups of a dimension can be divided by hosts.
[[nodiscard]] bool divides_by_hosts(const Dimension& dimension, std::int64_t ranks_per_host);
// `ranks_per_host`: consecutive ranks share a host. A group that lies in one host, or with different numbers of ranks
// on its hosts, is not divided by hosts.
void partition_step(StepPlan& plan, const Partition& partition, std::int64_t ranks_per_host);

}  // namespace ringwright::workload
