#include "core/run/astra/remote_memory.h"

#include <algorithm>

namespace ringwright {

Tick RemoteMemory::request(std::uint32_t rank, std::int64_t bytes, Tick now) {
  const Tick service = rules_.latency + whole_ticks(static_cast<double>(bytes) / rules_.bytes_per_ns);
  if (rules_.sharing == RemoteMemorySharing::kPerRank) return std::min(now + service, kLastTick);
  const std::uint32_t device = rules_.sharing == RemoteMemorySharing::kPerNode ? rank / rules_.ranks_per_node : 0;
  Tick& free_at = free_at_[device];
  free_at = std::min(std::max(free_at, now) + service, kLastTick);
  return free_at;
}

}  // namespace ringwright
