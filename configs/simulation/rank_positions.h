// Positions of ranks on the hosts: host by host, as launchers assign them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright::configs {

// Hosts of which some NICs are down, and which all-reduces are planned around. `lost`: by host; empty: none.
inline void lose_nics(std::span<const int> lost, int nics, std::vector<RankPosition>& places) {
  if (lost.empty()) return;
  for (RankPosition& place : places) {
    place.nics_lost = lost[static_cast<std::size_t>(place.host)];
    if (place.nics_lost > 0) place.nics = nics;
  }
}

// `nic_set_of_host`: as in GroupLayout, by host; empty: every host has all NICs.
[[nodiscard]] inline std::vector<RankPosition> place_ranks(std::size_t ranks, int gpus_per_host,
                                                        std::span<const int> nic_set_of_host = {}) {
  const auto per_host = static_cast<std::size_t>(gpus_per_host);
  std::vector<RankPosition> places;
  places.reserve(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t host = rank / per_host;
    places.push_back({.host = static_cast<std::int64_t>(host),
                      .gpu = static_cast<int>(rank % per_host),
                      .nic_set = nic_set_of_host.empty() ? 0 : nic_set_of_host[host]});
  }
  return places;
}

// By rank, from what its GPU has; a GPU has the number of its first rank.
template <class Value>
[[nodiscard]] std::vector<Value> of_ranks(const GpuSharing& sharing, std::vector<Value> of_gpus) {
  if (sharing.gpu_of_rank.empty() || of_gpus.empty()) return of_gpus;
  std::vector<Value> values;
  for (const RankId gpu : sharing.gpu_of_rank) values.push_back(of_gpus[gpu.index()]);
  return values;
}

}  // namespace ringwright::configs
