#include "workload/layout/layer_kind_checks.h"

#include <string_view>

#include <fmt/format.h>

#include "workload/layout/tensor_sizes.h"

namespace ringwright::workload {
namespace {

// What context-parallel ranks exchange for tokens, of one tensor-parallel rank.
struct ExchangedParts {
  std::int64_t count = 1;
  std::string_view what;
  std::string_view layers;
};

// Megatron-LM, ssm/mamba_context_parallel.py: each rank gets as many heads; whole groups, or a part of one.
void check_exchanged(ConfigMap& parallel, const ParallelOptions& options, const ExchangedParts& parts) {
  if (options.cp == 1 || parts.count % options.cp == 0) return;
  parallel.error("cp", "E460",
                 fmt::format("{} = {}: context-parallel ranks exchange the {} of {} for tokens, and {} does not divide "
                             "the {} of a tensor-parallel rank",
                             parallel.path_of("cp"), options.cp, parts.what, parts.layers, options.cp, parts.count),
                 "choose a cp that divides them");
}

void check_hybrid(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  if (!context.shape.hybrid) return;
  if ((context.shape.hybrid->order + context.shape.hybrid->predictor).find('M') == std::string::npos) return;
  const MambaShape& mamba = context.shape.hybrid->mamba;
  const TensorSizes tensor = tensor_sizes(context, options);
  const auto refuse = [&](int tp, std::int64_t number, std::string_view what) {
    parallel.error(
        tensor.key, "E460",
        fmt::format("{} does not divide the {} {} of Mamba-2 layers", sized(parallel, tensor.key, tp), number, what));
  };
  for (const int tp : tensor.sizes) {
    if (mamba.heads % tp != 0) refuse(tp, mamba.heads, "heads");
    if (mamba.groups % tp != 0) refuse(tp, mamba.groups, "groups");
    if (mamba.heads % tp == 0 && mamba.groups % tp == 0) {
      check_exchanged(parallel, options, {.count = mamba.heads / tp, .what = "heads", .layers = "Mamba-2 layers"});
      // Fewer groups than ranks are repeated.
      const std::int64_t groups = mamba.groups / tp;
      if (groups < options.cp && options.cp % groups == 0) continue;
      check_exchanged(parallel, options, {.count = groups, .what = "groups", .layers = "Mamba-2 layers"});
    }
  }
  const Recompute recompute = context.training.recompute;
  if (recompute == Recompute::kOperators || recompute == Recompute::kExceptSaved) {
    context.training_map.error("recompute", "E461", "operators of Mamba-2 layers are not recomputed one by one",
                               "write full, selective or none");
  }
}

void check_delta_net(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  if (!context.shape.delta_net) return;
  const DeltaNetShape& net = *context.shape.delta_net;
  const TensorSizes tensor = tensor_sizes(context, options);
  for (const int tp : tensor.sizes) {
    if (net.key_heads % tp == 0) {  // as many or more heads of values are multiples of these
      check_exchanged(parallel, options,
                      {.count = net.key_heads / tp, .what = "heads of keys", .layers = "a Gated DeltaNet"});
      continue;
    }
    parallel.error(tensor.key, "E460",
                   fmt::format("{} does not divide the {} heads of keys of a Gated DeltaNet",
                               sized(parallel, tensor.key, tp), net.key_heads));
  }
  const Recompute recompute = context.training.recompute;
  if (recompute == Recompute::kOperators || recompute == Recompute::kExceptSaved) {
    context.training_map.error("recompute", "E461", "operators of a Gated DeltaNet are not recomputed one by one",
                               "write full, selective or none");
  }
}

// Megatron-LM: absorbed_mla.py needs sequence parallelism; dsa.py gathers keys in zig-zag order and knows no other
// exchange among context-parallel ranks.
void check_sparse(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  if (!context.shape.indexer) return;
  const TensorSizes tensor = tensor_sizes(context, options);
  for (const int tp : tensor.sizes) {
    if (tp == 1 || options.sequence_parallel) continue;
    parallel.error(tensor.key, "E464",
                   fmt::format("{}: sparse attention is split over ranks with sequence parallelism alone",
                               sized(parallel, tensor.key, tp)),
                   "set parallel.sequence_parallel: true");
  }
  if (options.cp > 1 && options.context_exchange != ContextExchange::kAllGather) {
    parallel.error(parallel.has("cp_comm_type") ? "cp_comm_type" : "cp", "E464",
                   fmt::format("{} = {}: an indexer chooses among the keys of all ranks, which must gather them",
                               parallel.path_of("cp"), options.cp),
                   "set parallel.cp_comm_type: all_gather");
  } else if (options.cp > 1 && !options.context_balanced) {
    parallel.error("cp_balanced", "E464", "sparse attention gathers keys in zig-zag order alone", "write true");
  }
  if (options.tp > 1 && context.shape.order != BlockOrder::kSequential) {
    parallel.error(tensor.key, "E464", "sparse attention in parallel blocks is not split over ranks", "write 1");
  }
  const TrainingOptions& training = context.training;
  const auto refuse = [&](bool given, std::string_view key, const char* problem, const char* remedy) {
    if (given) context.training_map.error(key, "E464", problem, remedy);
  };
  refuse(training.attention == AttentionKernel::kUnfused, "attention",
         "sparse attention is modelled with fused kernels alone", "write fused");
  refuse(training.recompute == Recompute::kOperators || training.recompute == Recompute::kExceptSaved, "recompute",
         "operators of sparse attention are not recomputed one by one", "write full, selective or none");
  const bool mixed = !training.lengths.empty();
  refuse(mixed || training.documents(context.shape.sequence) > 1, mixed ? "document_lengths" : "document_length",
         "sparse attention is modelled without packed documents", "remove it");
  refuse(training.fused.fp8_attention, "fp8_dot_product_attention",
         "sparse attention is modelled in the working type alone", "write false");
}

}  // namespace

namespace {

void check_documents(const ParallelContext& context) {
  for (const std::int64_t length : context.training.lengths) {
    if (length <= context.shape.sequence) continue;
    ConfigMap& training = context.training_map;
    return training.error(
        "document_lengths", "E141",
        fmt::format("{}: a document of {} tokens does not fit into {} = {}", training.path_of("document_lengths"),
                    length, context.model_map.path_of("seq_length"), context.shape.sequence));
  }
}

}  // namespace

void check_layer_kinds(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  check_hybrid(parallel, context, options);
  check_delta_net(parallel, context, options);
  check_sparse(parallel, context, options);
  check_documents(context);
}

}  // namespace ringwright::workload
