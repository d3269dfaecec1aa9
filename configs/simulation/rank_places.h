// Where ranks stand: host by host, as launchers place them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright::configs {

[[nodiscard]] inline std::vector<RankPlace> place_ranks(std::size_t ranks, int gpus_per_host) {
  const auto per_host = static_cast<std::size_t>(gpus_per_host);
  std::vector<RankPlace> places;
  places.reserve(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    places.push_back({.host = static_cast<std::int64_t>(rank / per_host), .gpu = static_cast<int>(rank % per_host)});
  }
  return places;
}

}  // namespace ringwright::configs
