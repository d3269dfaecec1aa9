#include "workload/options/layer_fusion_options.h"

#include <string_view>

#include "workload/options/training_options.h"

namespace ringwright::workload {
namespace {

std::string_view why_off(const ConfigMap& zero, const ParallelOptions& options) {
  if (options.zero_stage >= 2) return "stages 2 and 3 have buckets of their own";
  if (zero.has("bucket") || zero.has("reduce_bucket_size")) return "the size of buckets is given";
  return options.overlap_grad_reduce ? "" : "without overlap_grad_reduce all gradients are one bucket";
}

}  // namespace

LayerFusionOptions read_layer_fusion(ConfigMap& zero, const ParallelOptions& options) {
  LayerFusionOptions fusion;
  if (!zero.has("layer_fusion") && !zero.documenting()) return fusion;
  ConfigMap map = zero.map("layer_fusion", "buckets that end the exchange of a pass earliest, instead of equal ones");
  if (const std::string_view why = why_off(zero, options); !why.empty() && !zero.documenting()) {
    map.ignore_rest(why);
    return fusion;
  }
  fusion.overhead = map.duration({.name = "overhead",
                                  .doc = "time of a bucket whatever its size: launches, latency, a codec's kernels",
                                  .min = Duration(0)});
  fusion.rate = map.bandwidth({.name = "rate",
                               .doc = "gradient bytes, not encoded, for each second of an exchange",
                               .min = Bandwidth(1.0)});
  fusion.backward = map.duration({.name = "backward",
                                  .doc = "time of the backward pass of a microbatch, in which gradients become ready "
                                         "in proportion to their elements",
                                  .min = Duration(1)});
  return fusion;
}

}  // namespace ringwright::workload
