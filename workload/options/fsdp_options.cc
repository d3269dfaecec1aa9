#include "workload/options/fsdp_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

#include <fmt/format.h>

#include "workload/options/shard_groups.h"

namespace ringwright::workload {
namespace {

constexpr std::array kStrategies{
    Option{"full_shard", "parameters are gathered for the forward and again for the backward pass"},
    Option{"shard_grad_op", "parameters stay gathered from the forward to the backward pass"},
    Option{"hybrid_shard", "full_shard among some ranks, copies over the others"},
    Option{"_hybrid_shard_zero2", "shard_grad_op among some ranks, copies over the others"},
    Option{"no_shard", "every rank holds the whole state; gradients are all-reduced"}};
constexpr std::array kPrefetches{
    Option{"backward_pre", "the next unit is gathered while the current unit's gradients are computed"},
    Option{"backward_post", "the next unit is gathered after that, before the current gradients are scattered"},
    Option{"none", "a unit is gathered when it is needed"}};

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

}  // namespace

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

}  // namespace ringwright::workload
