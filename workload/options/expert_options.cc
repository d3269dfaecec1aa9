#include "workload/options/expert_options.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include "workload/options/expert_load.h"

namespace ringwright::workload {
namespace {

constexpr std::array kDispatchers{
    Option{"alltoall", "a token is sent to each of its experts' ranks"},
    Option{"allgather", "every rank of the expert-parallel group gets every token"},
    Option{"flex", "as DeepEP: a token crosses to another host once and is forwarded inside, to each rank once"}};
constexpr std::array kBackends{
    Option{"deepep", "DeepEP: tokens arrive rank by rank, and a kernel copies them into the order of experts"},
    Option{"hybridep", "HybridEP: tokens arrive in a buffer, and a kernel copies them out: with moe_permute_fusion in "
                       "the order of experts, which moves the bytes of deepep; without as they came"}};

// With padding a rank computes exactly its experts' capacity.
void set_load(const std::vector<double>& experts, ExpertOptions& options) {
  if (options.pad_to_capacity) {
    options.load.assign(static_cast<std::size_t>(options.ep), options.capacity);
  } else if (!experts.empty()) {
    options.load = loads_of_ranks(experts, options.ep, options.capacity);
  } else if (options.capacity > 0.0 && options.capacity < 1.0) {
    options.load.assign(static_cast<std::size_t>(options.ep), options.capacity);
  }
}

void check_divisions(ConfigMap& parallel, const ExpertContext& context, ExpertOptions& options) {
  const std::int64_t experts = context.shape.experts ? context.shape.experts->count : 1;
  if (options.ep > 1 && !context.shape.experts) {
    parallel.error("ep", "E138",
                   fmt::format("{} = {}, but the model has no experts", parallel.path_of("ep"), options.ep),
                   "omit ep, or set model.num_experts");
    options.ep = 1;
  }
  if (experts % options.ep != 0) {
    parallel.error("ep", "E138",
                   fmt::format("{} = {} does not divide the {} experts ({})", parallel.path_of("ep"), options.ep,
                               experts, context.model_map.origin("num_experts")));
    options.ep = 1;
  }
  if (context.shape.experts && context.shape.experts->ffn % options.etp != 0) {
    parallel.error(
        "etp", "E138",
        fmt::format("{} = {} does not divide the width {} of an expert ({})", parallel.path_of("etp"), options.etp,
                    context.shape.experts->ffn, context.model_map.origin("moe_ffn_hidden_size")));
    options.etp = 1;
  }
  if (context.ranks % (options.ep * options.etp) != 0) {
    parallel.error("ep", "E138",
                   fmt::format("{}: etp {} x ep {} = {} does not divide the {} ranks of a stage (tp x cp x dp)",
                               parallel.path(), options.etp, options.ep, options.etp * options.ep, context.ranks));
    options.ep = options.etp = 1;
  }
}

// `asked`: the expert-parallel size of the scenario, which is 1 here where it cannot be.
void read_overlap(ConfigMap& parallel, int asked, ExpertOptions& options) {
  options.overlap_exchange =
      parallel.boolean({.name = "overlap_moe_expert_parallel_comm",
                        .doc = "tokens of a forward pass travel while a backward pass of another microbatch is "
                               "computed, and the reverse",
                        .fallback = false});
  options.delay_wgrad =
      parallel.boolean({.name = "delay_wgrad_compute",
                        .doc = "overlap_moe_expert_parallel_comm: weight gradients of experts are computed while the "
                               "gradients of their inputs travel",
                        .fallback = false});
  options.paged_stash = parallel.boolean({.name = "moe_paged_stash",
                                          .doc = "buffers of tokens have a fixed size, so that the host does not wait "
                                                 "for the number of each expert's tokens",
                                          .fallback = false});
  if (options.delay_wgrad && !options.overlap_exchange && !parallel.documenting()) {
    parallel.warn("delay_wgrad_compute", "W131",
                  fmt::format("{} has no effect without overlap_moe_expert_parallel_comm",
                              parallel.path_of("delay_wgrad_compute")));
    options.delay_wgrad = false;
  }
  if (options.ep > 1 || !options.overlap_exchange || parallel.documenting()) return;
  if (asked == 1) {
    parallel.warn("overlap_moe_expert_parallel_comm", "W131",
                  fmt::format("{} has no effect: ep is 1", parallel.path_of("overlap_moe_expert_parallel_comm")));
  }
  options.overlap_exchange = options.delay_wgrad = false;
}

void check_latent(ConfigMap& parallel, const ExpertContext& context, ExpertOptions& options) {
  if (!context.shape.experts || context.shape.experts->latent == 0 || !options.overlap_shared) return;
  parallel.error(
      "moe_shared_expert_overlap", "E463",
      fmt::format("{}: shared experts are not overlapped where tokens are projected to a latent space ({}), "
                  "as in Megatron-LM",
                  parallel.path_of("moe_shared_expert_overlap"), context.model_map.origin("moe_latent_size")),
      "write false");
  options.overlap_shared = false;
}

// By expert; empty: equal.
std::vector<double> read_load(ConfigMap& parallel, const ExpertContext& context) {
  ConfigMap load = parallel.map("moe_router_load", "imbalance of the router's token distribution; default: balanced");
  const double deviation =
      load.number({.name = "deviation",
                   .doc = "standard deviation of the experts' tokens relative to their mean (log-normal); 0: equal",
                   .fallback = 0.0,
                   .min = 0.0,
                   .max = 10.0});
  const auto seed = static_cast<std::uint64_t>(
      load.integer({.name = "seed", .doc = "seed of the draw", .fallback = 1, .min = 0, .max = INT64_MAX}));
  if (load.has("seed") && deviation <= 0.0) {
    load.warn("seed", "W131", fmt::format("{} has no effect: the deviation is 0", load.path_of("seed")));
  }
  if (!context.shape.experts || deviation <= 0.0) return {};
  return draw_expert_loads(*context.shape.experts, deviation, seed);
}

void read_capacity(ConfigMap& parallel, ExpertOptions& options) {
  options.capacity = parallel.number({.name = "moe_expert_capacity_factor",
                                      .doc = "expert capacity in tokens, relative to an equal share; 0: unlimited",
                                      .fallback = 0.0,
                                      .min = 0.0,
                                      .max = 1000.0});
  options.pad_to_capacity = parallel.boolean({.name = "moe_pad_expert_input_to_capacity",
                                              .doc = "every expert computes its whole capacity, padded with zeros",
                                              .fallback = false});
  if (options.pad_to_capacity && options.capacity <= 0.0) {
    parallel.warn("moe_pad_expert_input_to_capacity", "W131",
                  fmt::format("{} has no effect without moe_expert_capacity_factor",
                              parallel.path_of("moe_pad_expert_input_to_capacity")));
    options.pad_to_capacity = false;
  }
}

void read_dispatch(ConfigMap& parallel, ExpertOptions& options) {
  const std::string kind = parallel.choice({.name = "moe_token_dispatcher_type",
                                            .doc = "how tokens are dispatched to their experts",
                                            .fallback = "alltoall"},
                                           kDispatchers);
  options.dispatcher = kind == "allgather" ? Dispatcher::kAllGather
                       : kind == "flex"    ? Dispatcher::kFlex
                                           : Dispatcher::kAllToAll;
  options.backend = parallel.choice({.name = "moe_flex_dispatcher_backend",
                                     .doc = "the library of the flex dispatcher",
                                     .fallback = "deepep"},
                                    kBackends) == "hybridep"
                        ? FlexBackend::kHybridEp
                        : FlexBackend::kDeepEp;
  if (parallel.has("moe_flex_dispatcher_backend") && !options.is_flex() && !parallel.documenting()) {
    parallel.warn("moe_flex_dispatcher_backend", "W131",
                  fmt::format("{} has no effect: {}", parallel.path_of("moe_flex_dispatcher_backend"),
                              options.ep == 1 ? "ep is 1" : "moe_token_dispatcher_type is not flex"));
  }
  options.fp8_dispatch = parallel.boolean({.name = "moe_fp8_dispatch",
                                           .doc = "tokens are dispatched in fp8, with one scale per 128 values",
                                           .fallback = false});
  options.overlap_shared = parallel.boolean({.name = "moe_shared_expert_overlap",
                                             .doc = "shared experts compute during the dispatch of tokens",
                                             .fallback = false});
  if (options.fp8_dispatch && options.dispatcher == Dispatcher::kAllGather) {
    parallel.warn("moe_fp8_dispatch", "W131",
                  fmt::format("{} has no effect: the allgather dispatcher sends tokens in the working type",
                              parallel.path_of("moe_fp8_dispatch")));
    options.fp8_dispatch = false;
  }
}

void note_dropped(ConfigMap& parallel, double capacity, const std::vector<double>& experts) {
  const double dropped = dropped_share(experts, capacity);
  if (dropped <= 0.0) return;
  parallel.assume("moe_expert_capacity_factor", fmt::format("{:g}", capacity),
                  fmt::format("at least {:.1f} % of the tokens' choices of experts are beyond it and dropped; "
                              "convergence is not modelled, and MFU counts them as computed",
                              100.0 * dropped));
}

// Without experts all their keys have no effect.
void warn_unused(ConfigMap& parallel) {
  for (const std::string_view key :
       {"etp", "moe_token_dispatcher_type", "moe_flex_dispatcher_backend", "moe_fp8_dispatch",
        "moe_shared_expert_overlap", "overlap_moe_expert_parallel_comm", "delay_wgrad_compute", "moe_paged_stash",
        "moe_expert_capacity_factor", "moe_pad_expert_input_to_capacity", "moe_router_load"}) {
    if (!parallel.has(key)) continue;
    parallel.warn(key, "W131", fmt::format("{} has no effect: the model has no experts", parallel.path_of(key)));
  }
}

}  // namespace

double ExpertOptions::hottest() const {
  return load.empty() ? 1.0 : *std::ranges::max_element(load);
}

int ExpertOptions::inner() const {
  return std::gcd(ep, std::max(1, host_ranks / etp));
}

ExpertOptions read_expert_options(ConfigMap& parallel, const ExpertContext& context) {
  ExpertOptions options;
  options.host_ranks = context.host_ranks;
  options.ep = static_cast<int>(parallel.integer({.name = "ep",
                                                  .doc = "expert-parallel size; a divisor of tp x cp x dp / etp",
                                                  .fallback = 1,
                                                  .min = 1,
                                                  .max = 100'000}));
  options.etp =
      static_cast<int>(parallel.integer({.name = "etp",
                                         .doc = "tensor-parallel size of experts; tp when not given, as in Megatron",
                                         .fallback = context.shape.experts ? context.tp : 1,
                                         .min = 1,
                                         .max = 100'000}));
  const int asked = options.ep;
  check_divisions(parallel, context, options);
  read_dispatch(parallel, options);
  check_latent(parallel, context, options);
  read_overlap(parallel, asked, options);
  read_capacity(parallel, options);
  const std::vector<double> experts = read_load(parallel, context);
  if (context.shape.experts && !parallel.documenting()) note_dropped(parallel, options.capacity, experts);
  set_load(experts, options);
  if (!context.shape.experts && !parallel.documenting()) {
    warn_unused(parallel);
    options.etp = 1;
    options.load.clear();
  }
  return options;
}

}  // namespace ringwright::workload
