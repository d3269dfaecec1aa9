// Rings among thread blocks of one GPU, simulated by the executor of chunks; and the fit of a protocol's constants to
// them.
#pragma once

#include <span>
#include <vector>

#include "core/base/units.h"
#include "validation/gpu/primitives_table.h"
#include "workload/gpu/gpu_spec.h"

namespace ringwright::validation {

// The ChannelCosts of one protocol, and the launch.
struct PrimitiveCosts {
  Duration launch;
  Duration hop;
  Duration primitive;
  Bandwidth rate;
};

// Seconds by row. `rate` is of a thread block alone, with its data in device memory: the ranks of a row are thread
// blocks of this GPU, share its memory, and are faster where its last-level cache has their data.
[[nodiscard]] std::vector<double> play_rings(std::span<const MeasuredExchange> rows, const PrimitiveCosts& costs,
                                             const workload::GpuSpec& gpu);

struct PrimitivesFit {
  Protocol protocol = Protocol::kSimple;
  PrimitiveCosts costs;
  double error = 0.0;         // mean absolute error of the logarithm, of rows that were fitted
  std::vector<bool> matters;  // launch, hop, primitive, rate: the rows affect it
};
// To the rows of one protocol that are not held out.
[[nodiscard]] PrimitivesFit fit_primitives(std::span<const MeasuredExchange> rows, Protocol protocol,
                                           const workload::GpuSpec& gpu);

}  // namespace ringwright::validation
