#include "workload/options/optimizer_instances.h"

#include <string_view>

#include <fmt/format.h>

#include "workload/options/shard_groups.h"

namespace ringwright::workload {
namespace {

constexpr std::string_view kInstances = "num_distributed_optimizer_instances";

// Where gradients do not take the two hops; empty: they do.
std::string_view incompatible(const ParallelContext& context, const ParallelOptions& options) {
  if (context.shape.experts) return "experts, which have other replicas than the rest of the model";
  if (context.training.gradient_sum == GradientSum::kCopied) return "training.gradient_accumulation: copied";
  if (options.allreduce_buckets) return "gradients that are all-reduced (zero.reduce_scatter: false)";
  if (options.workers > 1) return "workers that train on their own (training.local_sgd)";
  if (!options.meshes.empty()) return "stages of different sizes (parallel.stages)";
  return {};
}

}  // namespace

void read_optimizer_instances(ConfigMap& zero, const ParallelContext& context, ParallelOptions& options) {
  const std::int64_t instances =
      zero.integer({.name = kInstances,
                    .doc = "stage 1, Megatron: groups of neighbouring data-parallel ranks that each hold a whole "
                           "optimizer state: gradients are scattered within a group and all-reduced over groups, "
                           "parameters gathered within one",
                    .fallback = 1,
                    .min = 1,
                    .max = 1'000'000});
  if (instances == 1) return;
  const std::string path = zero.path_of(kInstances);
  if (options.zero_stage != 1) {
    return sharding_without_effect(zero, kInstances, "it divides the ranks of stage 1");
  }
  if (2 * instances > options.replicas() || options.replicas() % instances != 0) {
    return zero.error(kInstances, "E140",
                      fmt::format("{} = {} does not divide the {} data-parallel ranks into groups of two or more", path,
                                  instances, options.replicas()),
                      options.replicas() > 1 ? "write 1, or a divisor that leaves two ranks or more in a group"
                                             : "write 1");
  }
  if (const std::string_view other = incompatible(context, options); !other.empty()) {
    return zero.error(kInstances, "E140", fmt::format("{} = {} is not supported with {}", path, instances, other),
                      "write 1");
  }
  options.optimizer_instances = static_cast<int>(instances);
}

}  // namespace ringwright::workload
