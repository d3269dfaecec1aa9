// How fast jobs run that are on one GPU at once, over days: the rules of core/run/contention as shares of a GPU's time.
//
// A job's demand is the part of a GPU that its kernels take while it runs at full speed. On a GPU whose jobs demand
// more than there is:
//
//     time slices, MPS  max-min fair shares of the GPU
//     AntMan            the guaranteed job has what it demands; opportunistic ones share the rest (OSDI 2020)
//     TGS               the same, but the production job loses 3 % to them, by which its rate is found (NSDI 2023)
//
// A time slice is a whole GPU, whatever a kernel fills of it; under MPS kernels run next to each other. The difference
// is in the demand.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringwright::planning {

// kParts: jobs have parts of a GPU that do not disturb each other.
enum class SharingKind : std::uint8_t { kParts, kTimeSlicing, kMps, kAntMan, kTgs };

// Guaranteed and opportunistic jobs.
[[nodiscard]] constexpr bool has_classes(SharingKind kind) {
  return kind == SharingKind::kAntMan || kind == SharingKind::kTgs;
}

struct JobOnGpu {
  double demand = 1.0;
  bool opportunistic = false;
};

// The speed of each, 1 alone.
[[nodiscard]] std::vector<double> shared_speeds(SharingKind kind, std::span<const JobOnGpu> jobs);

}  // namespace ringwright::planning
