// Reading of `parallel.zero`, and the choice between it and `parallel.fsdp`.
#include "workload/options/sharding_options.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "workload/options/fsdp_options.h"
#include "workload/options/optimizer_instances.h"
#include "workload/options/shard_groups.h"
#include "workload/options/stage3_options.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

constexpr std::array kReductions{
    Option{"microbatch", "after every microbatch, as DeepSpeed's stage 2: no rank stores whole gradients"},
    Option{"microbatch_group",
           "after consecutive microbatches of a chunk: whole gradients of one chunk at a time are accumulated"}};

std::int64_t elements(ConfigMap& map, std::string_view name, std::string_view doc, std::int64_t fallback) {
  return map.integer({.name = name, .doc = doc, .fallback = fallback, .min = 0, .max = kMostElements});
}

void read_bucket(ConfigMap& zero, const ParallelContext& context, ParallelOptions& options) {
  options.bucket =
      zero.bytes({.name = "bucket",
                  .doc = "gradient bytes of one bucket; Megatron's max(40e6, 1e6 x dp) elements when not given",
                  .fallback = 0_B,
                  .min = 0_B});
  const std::int64_t reduce = elements(zero, "reduce_bucket_size", "gradient elements that are reduced together",
                                       500'000'000);
  options.sharding.reduce_bucket = reduce;
  options.flat_gradients =
      zero.boolean({.name = "flat_gradients",
                    .doc = "as DeepSpeed: gradients are reduced in a buffer of reduce_bucket_size, and a rank updates "
                           "from one flat tensor of its partition; both take memory",
                    .fallback = false});
  options.flat_bucket = reduce;
  const bool of_deepspeed = zero.has("reduce_bucket_size") || (options.zero_stage == 2 && !zero.has("bucket"));
  if (of_deepspeed && options.zero_stage < 3) {
    options.buckets_on_all_stages = true;
    options.bucket = scale(Bytes(1), static_cast<double>(reduce) * bytes_per_element(context.training.grad_reduce));
  }
  if (options.zero_stage == 3 && zero.has("bucket"))
    sharding_without_effect(zero, "bucket", "in stage 3 it is reduce_bucket_size");
  static_cast<void>(elements(zero, "allgather_bucket_size", "parameter elements that are gathered together",
                             500'000'000));
  if (zero.has("allgather_bucket_size")) {
    sharding_without_effect(zero, "allgather_bucket_size",
                            "parameters are gathered in the buckets of the gradients, or by layers");
  }
}

// When gradients are reduced, and which ranks receive the sums.
void read_reduction(ConfigMap& zero, ParallelOptions& options) {
  const std::string every = zero.choice({.name = "reduce_every",
                                         .doc = "stage 2: after which backward passes gradients are reduced",
                                         .fallback = "microbatch"},
                                        kReductions);
  if (zero.has("reduce_every") && options.zero_stage != 2) {
    sharding_without_effect(zero, "reduce_every",
                            options.zero_stage == 3
                                ? "stage 3 reduces in every microbatch"
                                : "below stage 2 gradients are reduced once, after all microbatches");
  }
  const bool scatter = zero.boolean(
      {.name = "reduce_scatter",
       .doc = "DeepSpeed: off, gradients are all-reduced and each rank takes its partition",
       .fallback = true});
  const bool together = zero.boolean(
      {.name = "use_multi_rank_bucket_allreduce",
       .doc = "DeepSpeed's stages 1 and 2 (its default): partitions of several ranks in a bucket are all-reduced "
              "together, which moves twice the bytes of a reduction to each owner",
       .fallback = false});
  const bool partitions = options.zero_stage == 1 || options.zero_stage == 2;
  if (zero.has("reduce_scatter") && options.zero_stage == 0) {
    sharding_without_effect(zero, "reduce_scatter", "stage 0 all-reduces gradients");
  }
  if (zero.has("use_multi_rank_bucket_allreduce") && !partitions) {
    sharding_without_effect(zero, "use_multi_rank_bucket_allreduce", "only stages 1 and 2 use it");
  }
  options.sharding.all_reduce = !scatter;
  options.allreduce_buckets = partitions && (!scatter || together);
  // On one GPU stage 2 moves the gradients of every microbatch to the host, where the optimizer is.
  const bool offloads = zero.has("offload_optimizer");
  if (options.zero_stage != 2 || (options.replicas() == 1 && !offloads)) return;
  options.gradient_reduction =
      every == "microbatch_group" ? GradientReduction::kMicrobatchGroup : GradientReduction::kMicrobatch;
}

void read_zero_pp(ConfigMap& zero, const World& world, const ParallelOptions& options, ShardingOptions& sharding) {
  const std::int64_t mics = zero.integer({.name = "mics_shard_size",
                                          .doc = "MiCS: ranks that share one copy of the state; -1: all",
                                          .fallback = -1,
                                          .min = -1,
                                          .max = 1'000'000});
  sharding.shard = options.replicas();
  if (mics > 0) {
    sharding.shard = dividing(zero, {"mics_shard_size", mics, options.replicas(), "data-parallel ranks"});
    sharding.replicate_every_microbatch = false;
  }
  const bool hierarchical = zero.boolean({.name = "mics_hierarchical_params_gather",
                                          .doc = "MiCS: parameters are gathered between nodes, then inside",
                                          .fallback = false});
  if (hierarchical) {
    sharding_without_effect(zero, "mics_hierarchical_params_gather",
                            "set collectives.dp_shard.algorithm: hierarchical instead");
  }
  const std::int64_t hpz = zero.integer(
      {.name = "zero_hpz_partition_size",
       .doc = "hpZ: ranks that share a second copy of the parameters, for gathers in the backward pass; 1: none",
       .fallback = 1,
       .min = 1,
       .max = 1'000'000});
  if (hpz > 1) {
    sharding.secondary = dividing(zero, {"zero_hpz_partition_size", hpz, sharding.shard, "ranks of a shard group"});
  }
  sharding.quantized_weights = zero.boolean(
      {.name = "zero_quantized_weights", .doc = "qwZ: parameters are gathered in int8", .fallback = false});
  sharding.quantized_gradients =
      zero.boolean({.name = "zero_quantized_gradients",
                    .doc = "qgZ: gradients are scattered in int4, in the node and then between nodes",
                    .fallback = false});
  if (!sharding.quantized_gradients) return;
  sharding.node = std::min(ranks_of_node(world, options), sharding.shard);
  sharding.node = sharding.shard % sharding.node == 0 ? sharding.node : 1;
}

void warn_without_stage_3(ConfigMap& zero) {
  for (const std::string_view key :
       {"stage3_prefetch_bucket_size", "stage3_param_persistence_threshold", "stage3_max_live_parameters",
        "stage3_max_reuse_distance", "gather_calls", "zero_hpz_partition_size", "zero_quantized_weights",
        "zero_quantized_gradients", "mics_shard_size", "mics_hierarchical_params_gather"}) {
    if (zero.has(key)) sharding_without_effect(zero, key, "without zero.stage 3 parameters are not sharded");
  }
}

void read_overlap(ConfigMap& zero, ParallelOptions& options) {
  const bool by_default = options.zero_stage == 3;
  options.overlap_grad_reduce =
      zero.boolean({.name = "overlap_grad_reduce",
                    .doc = "gradients are reduced bucket by bucket while the last backward pass runs",
                    .fallback = by_default});
  const bool overlap = zero.boolean({.name = "overlap_comm",
                                     .doc = "DeepSpeed's name for overlap_grad_reduce; on by default in stage 3",
                                     .fallback = options.overlap_grad_reduce});
  if (zero.has("overlap_comm") && zero.has("overlap_grad_reduce") && overlap != options.overlap_grad_reduce) {
    zero.error("overlap_comm", "E141",
               fmt::format("{} and {} ({}) contradict each other", zero.path_of("overlap_comm"),
                           zero.path_of("overlap_grad_reduce"), zero.origin("overlap_grad_reduce")));
  }
  options.overlap_grad_reduce = overlap;
  options.overlap_param_gather =
      zero.boolean({.name = "overlap_param_gather",
                    .doc = "updated parameters are gathered while the first forward pass runs (stage 1)",
                    .fallback = false});
}

void warn_zero(ConfigMap& zero, ParallelOptions& options) {
  if (options.overlap_param_gather && options.zero_stage == 0) {
    sharding_without_effect(zero, "overlap_param_gather", "without zero.stage 1 no parameters are gathered");
    options.overlap_param_gather = false;
  }
  if (options.overlap_param_gather && options.zero_stage == 3) {
    sharding_without_effect(zero, "overlap_param_gather", "in stage 3 parameters are gathered in every pass");
    options.overlap_param_gather = false;
  }
  const bool in_passes =
      options.overlap_grad_reduce || options.gradient_reduction != GradientReduction::kLastMicrobatch;
  if (options.bucket > 0_B && !in_passes) {
    const std::string_view key = zero.has("bucket") ? "bucket" : "reduce_bucket_size";
    sharding_without_effect(zero, key, "without overlap_grad_reduce all gradients are one bucket");
  }
  // On one GPU stage 3 sets how parameters are fetched from the host, stage 2 how gradients are stored there.
  const bool offloads = (options.zero_stage == 3 && zero.has("offload_param")) ||
                        (options.zero_stage == 2 && zero.has("offload_optimizer"));
  if (options.replicas() == 1 && options.zero_stage >= 1 && !offloads)
    sharding_without_effect(zero, "stage", "dp is 1");
}

void read_zero(ConfigMap zero, const ParallelContext& context, ParallelOptions& options) {
  options.zero_stage = static_cast<int>(
      zero.integer({.name = "stage",
                    .doc = "0: every rank has all optimizer state; 1: 1/dp of it (Megatron's distributed optimizer); "
                           "2: and of the gradients, which are reduced in every microbatch; 3: and of the parameters",
                    .fallback = 0,
                    .min = 0,
                    .max = 3}));
  read_overlap(zero, options);
  read_bucket(zero, context, options);
  options.layer_fusion = read_layer_fusion(zero, options);
  read_reduction(zero, options);
  ShardingOptions& sharding = options.sharding;
  read_stage_3(zero, sharding);
  read_zero_pp(zero, context.world, options, sharding);
  check_gather_calls(zero, sharding);
  sharding.tiling = read_linear_tiling(zero, context, options);
  warn_zero(zero, options);
  read_optimizer_instances(zero, context, options);
  if (options.zero_stage == 3) {
    sharding.parameters = options.replicas() > 1;
    sharding.reduce_at_once = !options.overlap_grad_reduce;
    sharding.one_trace_each = true;
    sharding.by_parameter = sharding.gather_calls == GatherCalls::kLayers;
    sharding.regathers = context.training.recompute == Recompute::kFull;
    if (sharding.all_reduce && sharding.quantized_gradients) {
      sharding_without_effect(zero, "reduce_scatter", "zero_quantized_gradients has exchanges of its own");
    }
    return;
  }
  warn_without_stage_3(zero);
  sharding = {};
}

}  // namespace

void read_sharding(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options) {
  ConfigMap zero = parallel.map("zero", "sharding of a model's state over data-parallel ranks, with DeepSpeed's keys");
  read_zero(zero, context, options);
  const bool fsdp = parallel.has("fsdp");
  if (fsdp && zero.has("stage") && options.zero_stage > 0) {
    parallel.error("fsdp", "E141",
                   fmt::format("{} and {} ({}) both shard the model's state", parallel.path_of("fsdp"),
                               zero.path_of("stage"), zero.origin("stage")),
                   "remove one of them");
  }
  if (fsdp || parallel.documenting()) {
    read_fsdp(parallel.map("fsdp", "PyTorch's fully sharded data parallelism"), context, options);
  }
  options.sharding.experts_apart = context.shape.experts && options.expert_replicas() != options.replicas();
  const ShardingOptions& sharding = options.sharding;
  const bool plain = sharding.shard == options.replicas() && sharding.secondary <= 1 && !sharding.quantized_gradients;
  if (options.shards_experts_apart() && !plain) {
    parallel.error(
        "ep", "E140",
        fmt::format("{} = {}: experts are sharded among the {} ranks that hold them, which is incompatible with "
                    "copies of the state (hybrid_shard, mics, hpz) and quantized gradients",
                    parallel.path_of("ep"), options.experts.ep, options.expert_replicas()),
        "set parallel.ep: 1, or shard over all data-parallel ranks");
  }
}

}  // namespace ringwright::workload
