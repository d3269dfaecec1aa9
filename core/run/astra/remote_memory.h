// Memory beyond the accelerators: one device serves one request after another, for all ranks, for a node, or for each
// rank alone.
#pragma once

#include <cstdint>
#include <map>

#include "core/base/ticks.h"

namespace ringwright {

enum class RemoteMemorySharing : std::uint8_t { kNone, kPerRank, kPerNode, kPool };

struct RemoteMemoryRules {
  RemoteMemorySharing sharing = RemoteMemorySharing::kNone;
  Tick latency = 0;
  double bytes_per_ns = 1.0;
  std::uint32_t ranks_per_node = 1;
};

class RemoteMemory {
 public:
  explicit RemoteMemory(const RemoteMemoryRules& rules) : rules_(rules) {}

  // When a request of a rank that is made now is done.
  [[nodiscard]] Tick request(std::uint32_t rank, std::int64_t bytes, Tick now);

 private:
  RemoteMemoryRules rules_;
  std::map<std::uint32_t, Tick> free_at_;  // by device
};

}  // namespace ringwright
