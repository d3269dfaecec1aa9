// Reading of the `parallel:` map; the checks against model, batch and cluster are in layout_checks.cc.
#include <array>

#include <fmt/format.h>

#include "workload/layout/context_checks.h"
#include "workload/layout/layout_checks.h"
#include "workload/layout/replica_microbatches.h"
#include "workload/layout/stage_mesh_reader.h"
#include "workload/options/pipeline_options.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {
namespace {

constexpr int kAllLayers = 10'000;

int small(ConfigMap& map, const Key<std::int64_t>& key) {
  Key<std::int64_t> bounded = key;
  bounded.min = 1;
  bounded.max = 1'000'000;
  return static_cast<int>(map.integer(bounded));
}

// Megatron-LM sent 1/tp of an activation until its pipelines moved into Megatron-Core (2023; issue 1858), and
// DeepSpeed's pipeline engine still does; stages with different numbers of ranks are modelled with it alone.
bool scatters_messages(const ParallelContext& context, const ParallelOptions& options) {
  return !options.meshes.empty() || context.training_map.has("deepspeed");
}

void read_tensor(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options) {
  options.sequence_parallel =
      parallel.boolean({.name = "sequence_parallel",
                        .doc = "norms and dropout work on 1/tp of the sequence; all-reduce becomes gather and scatter",
                        .fallback = false});
  options.scatter_gather_p2p =
      parallel.boolean({.name = "scatter_gather_p2p",
                        .doc = "without sequence_parallel: send 1/tp of an activation and gather it on arrival, as "
                               "Megatron-LM until 2022 and DeepSpeed",
                        .fallback = scatters_messages(context, options)});
  options.scatter_gather_gradients =
      parallel.boolean({.name = "scatter_gather_p2p_gradients",
                        .doc = "the same for an activation's gradient, which DeepSpeed up to 0.5 sends whole",
                        .fallback = options.scatter_gather_p2p});
  options.async_reduce =
      parallel.boolean({.name = "async_tensor_model_parallel_allreduce",
                        .doc = "activation gradients are reduced, or gathered, concurrently with the weight-gradient "
                               "GEMMs",
                        .fallback = true});
  options.keep_gathered =
      parallel.boolean({.name = "keep_gathered_inputs",
                        .doc = "with sequence_parallel: the gathered input of a layer is stored for its weight "
                               "gradient, as in PyTorch's DTensor; Megatron stores 1/tp and gathers it again",
                        .fallback = false});
  if (options.keep_gathered && !(options.sequence_parallel && options.tp > 1)) {
    parallel.warn("keep_gathered_inputs", "W131",
                  fmt::format("{} has no effect: no input is gathered", parallel.path_of("keep_gathered_inputs")));
    options.keep_gathered = false;
  }
  if (options.sequence_parallel && options.tp == 1) {
    parallel.warn("sequence_parallel", "W131",
                  fmt::format("{} has no effect: tp is 1", parallel.path_of("sequence_parallel")));
    options.sequence_parallel = false;
  }
  for (const std::string_view key : {"scatter_gather_p2p", "scatter_gather_p2p_gradients"}) {
    if (!parallel.has(key) || (!options.sequence_parallel && options.tp > 1 && options.pp > 1)) continue;
    parallel.warn(key, "W131",
                  fmt::format("{} has no effect: it needs tp > 1 and pp > 1 without sequence_parallel",
                              parallel.path_of(key)));
  }
}

constexpr std::array kExchanges{Option{"p2p", "blocks of keys and values travel around a ring during computation"},
                                Option{"all_gather", "every rank gathers all keys and values first (Llama 3)"},
                                Option{"all_gather_blocks",
                                       "the same, then block by block, and gradients travel around a ring (PyTorch)"},
                                Option{"a2a", "heads are exchanged for tokens (Ulysses)"},
                                Option{"a2a+p2p", "heads for tokens among neighbours, a ring across them"}};

void read_context(ConfigMap& parallel, ParallelOptions& options) {
  const std::string kind = parallel.choice(
      {.name = "cp_comm_type", .doc = "how context-parallel ranks obtain all keys and values", .fallback = "p2p"},
      kExchanges);
  options.context_exchange = kind == "all_gather"          ? ContextExchange::kAllGather
                             : kind == "all_gather_blocks" ? ContextExchange::kGatheredBlocks
                             : kind == "a2a"               ? ContextExchange::kAllToAll
                             : kind == "a2a+p2p"           ? ContextExchange::kHierarchical
                                                           : ContextExchange::kRing;
  const std::vector<std::int64_t> sizes =
      parallel.integers({.name = "hierarchical_context_parallel_sizes",
                         .doc = "for a2a+p2p: ranks that exchange heads, ranks of the ring; their product is cp",
                         .min = 1,
                         .max = 1'000'000});
  options.context_balanced = parallel.boolean(
      {.name = "cp_balanced",
       .doc = "each rank has a chunk from the front of the sequence and one from the back (zig-zag), not one "
              "contiguous chunk",
       .fallback = true});
  if (options.context_exchange == ContextExchange::kAllToAll) options.ulysses = options.cp;
  check_context_sizes(parallel, sizes, options);
}

}  // namespace

ParallelOptions read_parallel_options(ConfigMap& parallel, const ParallelContext& context) {
  ParallelOptions options;
  options.tp = small(parallel, {.name = "tp", .doc = "tensor-parallel size", .fallback = 1});
  options.pp = small(parallel, {.name = "pp", .doc = "pipeline stages", .fallback = 1});
  options.cp = small(parallel, {.name = "cp", .doc = "context-parallel size", .fallback = 1});
  const auto dp = parallel.integer_or(
      {.name = "dp", .doc = "data-parallel size; auto: what remains of the cluster", .min = 1, .max = 1'000'000},
      "auto");
  if (!read_stage_meshes(parallel, context, options)) derive_data_parallel(parallel, dp, context.world, options);
  read_workers(context, options);
  options.experts = read_expert_options(parallel, {.shape = context.shape,
                                                   .model_map = context.model_map,
                                                   .tp = options.tp,
                                                   .ranks = options.tp * options.cp * options.dp,
                                                   .host_ranks = context.world.host_ranks});
  read_context(parallel, options);
  read_pipeline_options(parallel, context.listed, options);
  read_microbatch_split(parallel, options);
  read_tensor(parallel, context, options);
  read_tensor_overlap(parallel, context, options);
  read_sharding(parallel, context, options);
  check_compression(context, options);
  read_offload(parallel, options);
  if (context.training.full.on_host) {
    const FullRecompute& full = context.training.full;
    options.offload.activation_layers = full.method == RecomputeMethod::kBlock ? full.layers : kAllLayers;
  }
  check_local_sgd(context, options);
  check_layout(parallel, context, options);
  return options;
}

}  // namespace ringwright::workload
