// Several processes on one GPU: which ranks they are, by which rule they share it, and what each may take of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"

namespace ringwright {

// kNone: every process has the whole GPU. The others: core/run/contention/sharing_rule.h.
enum class SharingKind : std::uint8_t { kNone, kTimeSlicing, kMps, kMig, kAntMan, kTgs };

// What a process may take of its GPU at most.
struct TenantLimits {
  double sms = 1.0;            // MPS: share of the multiprocessors (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE)
  double instance_sms = 1.0;   // MIG: share of the multiprocessors that its instance has
  double instance_memory = 1.0;  // MIG: share of the memory's size and bandwidth
  bool opportunistic = false;  // AntMan, TGS: it gets what the others leave

  friend bool operator==(const TenantLimits&, const TenantLimits&) = default;
};

struct GpuSharing {
  SharingKind kind = SharingKind::kNone;
  // By rank: the first rank of its GPU, which has the GPU's number. Empty: rank r is the only process on GPU r.
  std::vector<RankId> gpu_of_rank;

  [[nodiscard]] bool on() const { return kind != SharingKind::kNone || !gpu_of_rank.empty(); }
  // Of so many ranks: those that are the first on theirs precede all others.
  [[nodiscard]] std::size_t gpus(std::size_t ranks) const {
    if (gpu_of_rank.empty()) return ranks;
    std::size_t count = 0;
    while (count < ranks && gpu_of_rank[count] == RankId(count)) ++count;
    return count;
  }
  [[nodiscard]] RankId gpu_of(RankId rank) const { return gpu_of_rank.empty() ? rank : gpu_of_rank[rank.index()]; }
};

}  // namespace ringwright
