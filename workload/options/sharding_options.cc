// Reading of `parallel.zero` and `parallel.fsdp`, and the checks that groups of ranks divide.
#include "workload/options/sharding_options.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "workload/options/optimizer_instances.h"
#include "workload/options/stage3_options.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {
namespace {

using namespace ringwright::literals;

constexpr std::array kStrategies{
    Option{"full_shard", "parameters are gathered for the forward and again for the backward pass"},
    Option{"shard_grad_op", "parameters stay gathered from the forward to the backward pass"},
    Option{"hybrid_shard", "full_shard among some ranks, copies over the others"},
    Option{"_hybrid_shard_zero2", "shard_grad_op among some ranks, copies over the others"},
    Option{"no_shard", "every rank holds the whole state; gradients are all-reduced"}};
constexpr std::array kReductions{
    Option{"microbatch", "after every microbatch, as DeepSpeed's stage 2: no rank stores whole gradients"},
    Option{"microbatch_group",
           "after consecutive microbatches of a chunk: whole gradients of one chunk at a time are accumulated"}};
constexpr std::array kPrefetches{
    Option{"backward_pre", "the next unit is gathered while the current unit's gradients are computed"},
    Option{"backward_post", "the next unit is gathered after that, before the current gradients are scattered"},
    Option{"none", "a unit is gathered when it is needed"}};

void sharding_without_effect(ConfigMap& map, std::string_view key, std::string_view why) {
  map.warn(key, "W131", fmt::format("{} has no effect: {}", map.path_of(key), why));
}

std::int64_t elements(ConfigMap& map, std::string_view name, std::string_view doc, std::int64_t fallback) {
  return map.integer({.name = name, .doc = doc, .fallback = fallback, .min = 0, .max = kMostElements});
}

// Ranks of one node that differ only in their data-parallel coordinate.
int ranks_of_node(const World& world, const ParallelOptions& options) {
  const int model = options.tp;
  if (world.host_ranks <= model || world.host_ranks % model != 0) return 1;
  return std::min(options.replicas(), world.host_ranks / model);
}

struct Divides {
  std::string_view key;
  std::int64_t size = 1;
  std::int64_t of = 1;
  std::string_view what;  // of is
};

// The size, or 1 after an error.
int dividing(ConfigMap& map, const Divides& asked) {
  if (asked.size >= 1 && asked.size <= asked.of && asked.of % asked.size == 0) return static_cast<int>(asked.size);
  map.error(asked.key, "E140",
            fmt::format("{} = {} does not divide the {} {}", map.path_of(asked.key), asked.size, asked.of, asked.what));
  return 1;
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
    if (sharding.all_reduce && sharding.quantized_gradients)
      sharding_without_effect(zero, "reduce_scatter", "zero_quantized_gradients has exchanges of its own");
    return;
  }
  warn_without_stage_3(zero);
  sharding = {};
}

// FSDP2's setting: true, false, or the number of ranks among which parameters stay sharded after the forward pass.
void read_reshard(ConfigMap& fsdp, ShardingOptions& sharding) {
  const std::string word = fsdp.text({.name = "reshard_after_forward",
                                      .doc = "true, false, or the number of ranks among which parameters are sharded "
                                             "from the forward to the backward pass",
                                      .fallback = std::string(sharding.reshard_after_forward ? "true" : "false")});
  if (word == "true" || word == "false") {
    if (fsdp.has("reshard_after_forward") && fsdp.has("sharding_strategy") &&
        (word == "true") != sharding.reshard_after_forward) {
      fsdp.error("reshard_after_forward", "E141",
                 fmt::format("{} and {} ({}) contradict each other", fsdp.path_of("reshard_after_forward"),
                             fsdp.path_of("sharding_strategy"), fsdp.origin("sharding_strategy")));
    }
    sharding.reshard_after_forward = word == "true";
    return;
  }
  int ranks = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), ranks);
  if (error != std::errc() || end != word.data() + word.size()) {
    fsdp.error("reshard_after_forward", "E107",
               fmt::format("{} is '{}'", fsdp.path_of("reshard_after_forward"), word), "true, false or a number");
    return;
  }
  ranks = dividing(fsdp, {"reshard_after_forward", ranks, sharding.shard, "ranks of a shard group"});
  sharding.secondary = ranks > 1 && ranks < sharding.shard ? ranks : 0;
  sharding.reshard_after_forward = ranks > 1;
}

void read_degrees(ConfigMap& fsdp, bool hybrid, const World& world, const ParallelOptions& options,
                  ShardingOptions& sharding) {
  const auto shard = fsdp.integer_or({.name = "shard_degree",
                                      .doc = "ranks that share one copy of the state; auto: all, or with hybrid_shard "
                                             "those of one node",
                                      .min = 1,
                                      .max = 1'000'000},
                                     "auto");
  const auto replicate = fsdp.integer_or(
      {.name = "replicate_degree", .doc = "copies of the state; auto: what remains", .min = 1, .max = 1'000'000},
      "auto");
  std::int64_t ranks = hybrid ? ranks_of_node(world, options) : options.replicas();
  if (shard) ranks = *shard;
  if (replicate && !shard) ranks = std::max<std::int64_t>(1, options.replicas() / *replicate);
  const bool fits = !replicate || ranks * *replicate == options.replicas();
  if (!fits) {
    fsdp.error("replicate_degree", "E140",
               fmt::format("{} = {} x shard_degree {} is not the {} data-parallel ranks",
                           fsdp.path_of("replicate_degree"), *replicate, ranks, options.replicas()));
  }
  if (hybrid && ranks == options.replicas() && !shard && !replicate) {
    sharding_without_effect(fsdp, "sharding_strategy",
                            "all data-parallel ranks are in one node, and one copy is sharded over them");
  }
  sharding.shard = fits ? dividing(fsdp, {shard ? "shard_degree" : "sharding_strategy", ranks, options.replicas(),
                                          "data-parallel ranks"})
                        : 1;
}

void read_prefetch(ConfigMap& fsdp, ShardingOptions& sharding) {
  const std::string prefetch = fsdp.choice({.name = "backward_prefetch",
                                            .doc = "when the next unit is gathered in a backward pass",
                                            .fallback = "backward_pre"},
                                           kPrefetches);
  sharding.backward_prefetch = prefetch == "none"            ? BackwardPrefetch::kNone
                               : prefetch == "backward_post" ? BackwardPrefetch::kPost
                                                             : BackwardPrefetch::kPre;
  const bool forward = fsdp.boolean({.name = "forward_prefetch",
                                     .doc = "the CPU issues the next gather before the current forward pass",
                                     .fallback = false});
  if (forward) sharding_without_effect(fsdp, "forward_prefetch", "the simulated CPU is always ahead of the GPU");
  sharding.limit_gathers = fsdp.boolean({.name = "limit_all_gathers",
                                         .doc = "at most two units are gathered at a time; off: no limit",
                                         .fallback = true});
  if (!sharding.limit_gathers) sharding.prefetch = INT64_MAX;
}

void read_fsdp(ConfigMap fsdp, const ParallelContext& context, ParallelOptions& options) {
  ShardingOptions& sharding = options.sharding;
  const std::string strategy = fsdp.choice(
      {.name = "sharding_strategy", .doc = "what is sharded, and among which ranks", .fallback = "full_shard"},
      kStrategies);
  const bool hybrid = strategy == "hybrid_shard" || strategy == "_hybrid_shard_zero2";
  sharding.reshard_after_forward = strategy == "full_shard" || strategy == "hybrid_shard";
  read_degrees(fsdp, hybrid, context.world, options, sharding);
  read_reshard(fsdp, sharding);
  read_prefetch(fsdp, sharding);
  sharding.reduce_every_microbatch =
      !fsdp.boolean({.name = "no_sync",
                     .doc = "gradients are accumulated unsharded and scattered only in the last microbatch",
                     .fallback = false});
  sharding.reshard_after_backward =
      fsdp.boolean({.name = "reshard_after_backward",
                    .doc = "FSDP2's set_reshard_after_backward; off: parameters stay gathered from a backward pass to "
                           "the next microbatch, as in torch.distributed.pipelining",
                    .fallback = true});
  const bool wrap_ends = fsdp.boolean({.name = "wrap_ends",
                                       .doc = "embedding and output layer are separate units (torchtitan), the output "
                                              "layer stays gathered; off: both belong to the root unit",
                                       .fallback = false});
  sharding.root_unit = !wrap_ends;
  sharding.keep_head = wrap_ends;
  sharding.master_in_shard = true;
  const std::int64_t version =
      fsdp.integer({.name = "version",
                    .doc = "of PyTorch's FSDP: 1 gathers a flat parameter in place; 2 copies shards into the gather's "
                           "buffer and parameters out of it",
                    .fallback = 2, .min = 1, .max = 2});
  sharding.by_parameter = version == 2;
  options.overlap_grad_reduce = true;
  if (strategy == "no_shard") {
    sharding = {};
    options.zero_stage = 0;
    return;
  }
  options.zero_stage = 3;
  if (options.replicas() == 1 && !fsdp.has("cpu_offload"))
    sharding_without_effect(fsdp, "sharding_strategy", "dp is 1");
  sharding.parameters = options.replicas() > 1;
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
  if (fsdp || parallel.documenting())
    read_fsdp(parallel.map("fsdp", "PyTorch's fully sharded data parallelism"), context, options);
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
