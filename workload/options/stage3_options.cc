#include "workload/options/stage3_options.h"

#include <array>

#include <fmt/format.h>

#include "workload/options/training_options.h"

namespace ringwright::workload {
namespace {

constexpr std::array kGatherCalls{
    Option{"layers", "one for the weights of a layer"},
    Option{"weights", "one for each weight, as DeepSpeed's hooks of single modules fetch them"},
    Option{"lists",
           "one for each weight, as DeepSpeed before 0.4.1: the host waits for the device, clears the result and lists "
           "the part of every rank, and PyTorch's all_gather into a list copies each part out"}};

std::int64_t gathered_elements(ConfigMap& zero, std::string_view name, std::string_view doc, std::int64_t fallback) {
  return zero.integer({.name = name, .doc = doc, .fallback = fallback, .min = 0, .max = kMostElements});
}

GatherCalls read_gather_calls(ConfigMap& zero) {
  const std::string calls = zero.choice(
      {.name = "gather_calls", .doc = "stage 3: calls that gather the parameters of a layer", .fallback = "layers"},
      kGatherCalls);
  if (calls == "lists") return GatherCalls::kLists;
  return calls == "weights" ? GatherCalls::kWeights : GatherCalls::kLayers;
}

}  // namespace

void read_stage_3(ConfigMap& zero, ShardingOptions& sharding) {
  sharding.prefetch = gathered_elements(zero, "stage3_prefetch_bucket_size",
                                        "parameter elements gathered ahead of their use", 50'000'000);
  sharding.persistence_threshold = gathered_elements(
      zero, "stage3_param_persistence_threshold", "tensors with fewer elements are never sharded", 100'000);
  sharding.max_live = gathered_elements(zero, "stage3_max_live_parameters",
                                        "limit of gathered elements at which prefetching stops", 1'000'000'000);
  sharding.max_reuse_distance =
      gathered_elements(zero, "stage3_max_reuse_distance",
                        "a layer that is used again within that many elements is not released", 1'000'000'000);
  sharding.gather_calls = read_gather_calls(zero);
  if (sharding.gather_calls != GatherCalls::kLists) return;
  for (const std::string_view key : {"stage3_prefetch_bucket_size", "stage3_max_live_parameters"}) {
    if (!zero.has(key)) continue;
    zero.warn(key, "W131",
              fmt::format("{} has no effect: with gather_calls: lists nothing is gathered ahead of its use",
                          zero.path_of(key)));
  }
  sharding.prefetch = 0;
}

void check_gather_calls(ConfigMap& zero, const ShardingOptions& sharding) {
  if (sharding.gather_calls != GatherCalls::kLists) return;
  if (!sharding.quantized_weights && sharding.secondary == 0) return;
  const std::string_view key = sharding.quantized_weights ? "zero_quantized_weights" : "zero_hpz_partition_size";
  zero.error("gather_calls", "E141",
             fmt::format("{} = lists and {} ({}) contradict each other: no version of DeepSpeed has both",
                         zero.path_of("gather_calls"), zero.path_of(key), zero.origin(key)),
             "set gather_calls: weights");
}

}  // namespace ringwright::workload
