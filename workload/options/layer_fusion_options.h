// What the grouping of gradients is planned with (workload/parallel/layer_fusion.h).
#pragma once

#include "core/base/units.h"
#include "core/config/config_map.h"

namespace ringwright::workload {

struct LayerFusionOptions {
  Duration overhead;  // of a bucket, whatever its size
  Bandwidth rate;     // gradient bytes, not encoded, for each second of an exchange
  Duration backward;  // of the pass through the model chunk that is divided

  [[nodiscard]] bool on() const { return backward > Duration(); }

  friend bool operator==(const LayerFusionOptions&, const LayerFusionOptions&) = default;
};

struct ParallelOptions;

// Reads `parallel.zero.layer_fusion`; off where buckets are not Megatron's.
[[nodiscard]] LayerFusionOptions read_layer_fusion(ConfigMap& zero, const ParallelOptions& options);

}  // namespace ringwright::workload
