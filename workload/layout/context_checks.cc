#include "workload/layout/context_checks.h"

#include <string>

#include <fmt/format.h>

namespace ringwright::workload {

void check_context_sizes(ConfigMap& parallel, const std::vector<std::int64_t>& sizes, ParallelOptions& options) {
  if (options.context_exchange != ContextExchange::kHierarchical) {
    if (sizes.empty()) return;
    parallel.warn("hierarchical_context_parallel_sizes", "W131",
                  fmt::format("{} has no effect: cp_comm_type is not a2a+p2p",
                              parallel.path_of("hierarchical_context_parallel_sizes")));
    return;
  }
  if (parallel.documenting()) return;
  if (sizes.size() == 2 && sizes[0] * sizes[1] == options.cp) {
    options.ulysses = static_cast<int>(sizes[0]);
    return;
  }
  parallel.error("hierarchical_context_parallel_sizes", "E139",
                 fmt::format("{} must be two sizes whose product is cp = {}",
                             parallel.path_of("hierarchical_context_parallel_sizes"), options.cp),
                 fmt::format("for example [2, {}]", std::max(1, options.cp / 2)));
}

namespace {

// "model.seq_length (llama.yaml:7)".
std::string of_model(const ParallelContext& context, std::string_view name) {
  return fmt::format("{} ({})", context.model_map.path_of(name), context.model_map.origin(name));
}

// Transformer Engine (context_parallel.py: attn_forward_func_with_cp) and PyTorch's ring have no windows.
void check_window(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  const ModelShape& shape = context.shape;
  const bool windowed = shape.window > 0 && shape.window < shape.sequence;
  if (!windowed || options.ring() == 1 || options.context_exchange == ContextExchange::kAllGather) return;
  parallel.error(parallel.has("cp_comm_type") ? "cp_comm_type" : "cp", "E139",
                 fmt::format("{}: a ring of {} ranks passes all keys to each of them, but {} = {} leaves a token those "
                             "of a window, for which no ring attention exists",
                             parallel.path_of("cp_comm_type"), options.ring(), of_model(context, "sliding_window"),
                             shape.window),
                 "set parallel.cp_comm_type: a2a or all_gather");
}

}  // namespace

void check_context(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options) {
  const ModelShape& shape = context.shape;
  if (options.cp == 1) {
    for (const std::string_view key : {"cp_comm_type", "cp_balanced"}) {
      if (!parallel.has(key)) continue;
      parallel.warn(key, "W131", fmt::format("{} has no effect: cp is 1", parallel.path_of(key)));
    }
    return;
  }
  const std::int64_t chunks = std::int64_t{options.cp} * (options.context_balanced ? 2 : 1);
  if (shape.sequence % chunks != 0) {
    parallel.error("cp", "E139",
                   fmt::format("{} = {} needs {} = {} to be a multiple of {}", parallel.path_of("cp"), options.cp,
                               of_model(context, "seq_length"), shape.sequence, chunks),
                   "each rank has two chunks of a sequence (one with cp_balanced: false)");
    options.cp = options.ulysses = 1;
    return;
  }
  const std::int64_t exchanged = std::int64_t{options.ulysses} * options.tp;
  const std::int64_t key_heads = shape.latent ? shape.heads : shape.kv_heads;
  if (options.ulysses > 1 && (shape.heads % exchanged != 0 || key_heads % exchanged != 0)) {
    parallel.error("cp", "E139",
                   fmt::format("{}: heads are exchanged for tokens among {} ranks, and tp {} x {} = {} does not divide "
                               "the {} attention heads and {} key-value heads",
                               parallel.path_of("cp_comm_type"), options.ulysses, options.tp, options.ulysses,
                               exchanged, shape.heads, key_heads),
                   "set parallel.cp_comm_type: p2p");
  }
  check_window(parallel, context, options);
  if (context.training.attention == AttentionKernel::kUnfused) {
    parallel.error(
        "cp", "E139",
        fmt::format("{} = {} needs fused attention, which works on blocks of keys", parallel.path_of("cp"), options.cp),
        "set training.attention: fused");
  }
}

}  // namespace ringwright::workload
