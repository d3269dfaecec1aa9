// Layouts that tests of collectives have in common.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/collective_call.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

// Members are assigned to hosts round-robin, so that no two of a host are neighbours in the group.
inline GroupLayout dealt_layout(int ranks, int hosts) {
  std::vector<std::int64_t> host;
  std::vector<int> gpu;
  for (int i = 0; i < ranks; ++i) {
    host.push_back(i % hosts);
    gpu.push_back(i / hosts);
  }
  return make_group_layout(host, gpu);
}

inline std::string describe(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  std::string hosts;
  for (const auto& host : call.layout->hosts) hosts += " " + std::to_string(host.size());
  return std::string(algorithm.name()) + " " + std::string(to_string(call.kind)) + " of " +
         std::to_string(call.bytes.count()) + " bytes over hosts" + hosts + ", root " + std::to_string(call.root);
}

}  // namespace ringwright::collectives
