#include "workload/layout/layout_checks.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/layout/context_checks.h"
#include "workload/layout/layer_kind_checks.h"
#include "workload/layout/pipeline_checks.h"
#include "workload/layout/replica_microbatches.h"
#include "workload/layout/stage_mesh_reader.h"
#include "workload/layout/tensor_sizes.h"

namespace ringwright::workload {
namespace {

std::vector<std::string> divisors(std::int64_t number) {
  std::vector<std::string> result;
  for (std::int64_t d = 1; d <= number; ++d) {
    if (number % d == 0) result.push_back(std::to_string(d));
  }
  return result;
}

// "model.num_attention_heads (llama.yaml:7)".
std::string placed(const ConfigMap& map, std::string_view name) {
  return fmt::format("{} ({})", map.path_of(name), map.origin(name));
}

void check_tensor_size(ConfigMap& parallel, const ParallelContext& context, std::string_view tp_key, int tp) {
  const ModelShape& shape = context.shape;
  const auto refuse = [&](std::int64_t number, std::string_view what, std::string_view key) {
    parallel.error(tp_key, "E134",
                   fmt::format("{} does not divide the {} {} of {}", sized(parallel, tp_key, tp), number, what,
                               placed(context.model_map, key)),
                   fmt::format("valid values: {}", join(divisors(std::gcd(shape.heads, shape.ffn)), " ")));
  };
  if (shape.heads % tp != 0) refuse(shape.heads, "attention heads", "num_attention_heads");
  if (shape.ffn % tp != 0) refuse(shape.ffn, "columns", "ffn_hidden_size");
  // Megatron: fewer key-value heads than ranks are replicated, when each rank gets exactly one.
  if (shape.kv_heads % tp != 0 && tp % shape.kv_heads != 0) {
    refuse(shape.kv_heads, "key-value heads", "num_query_groups");
  }
  const std::int64_t shared = shape.experts ? shape.experts->shared_ffn : 0;
  if (shared % tp != 0) refuse(shared, "columns", "moe_shared_expert_intermediate_size");
}

void check_tensor(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  const TensorSizes tensor = tensor_sizes(context, options);
  for (const int tp : tensor.sizes) check_tensor_size(parallel, context, tensor.key, tp);
  if (context.training.narrow_gather && !options.sequence_parallel) {
    context.training_map.warn("fp8_gather", "W131",
                              fmt::format("{} has no effect: {} is off", context.training_map.path_of("fp8_gather"),
                                          parallel.path_of("sequence_parallel")));
  }
  for (const int tp : tensor.sizes) {
    if (!options.sequence_parallel || context.shape.sequence % (std::int64_t{tp} * options.cp) == 0) continue;
    parallel.error(
        "sequence_parallel", "E134",
        fmt::format("{} needs {} = {} to be a multiple of tp x cp = {}", parallel.path_of("sequence_parallel"),
                    placed(context.model_map, "seq_length"), context.shape.sequence, tp * options.cp));
  }
}

void check_narrow_parameters(const ParallelContext& context, const ParallelOptions& options) {
  if (!context.training.narrow_parameters || !options.sharding.parameters) return;
  const bool fsdp = options.sharding.fsdp2();
  if (fsdp && context.training.gathers_narrow()) return;
  context.training_map.warn("fp8_param_gather", "W131",
                            fmt::format("{} has no effect: {}", context.training_map.path_of("fp8_param_gather"),
                                        fsdp ? "FSDP gathers only tensors with one scale in fp8"
                                             : "sharded parameters are gathered in the working type"));
}

bool has_dense_mlp(const ModelShape& shape) { return !shape.experts || shape.experts->dense_layers > 0; }

void check_operator_fuser(const ParallelContext& context) {
  const FusedKernels& fused = context.training.fused;
  if (!fused.mlp || fused.grouped_mlp || has_dense_mlp(context.shape)) return;
  context.training_map.warn("use_transformer_engine_op_fuser", "W131",
                            fmt::format("{} has no effect: {} is false",
                                        context.training_map.path_of("use_transformer_engine_op_fuser"),
                                        context.training_map.path_of("moe_grouped_gemm")));
}

// Of all layers where no MLP has such an activation.
void check_activation_input(const ParallelContext& context) {
  const TrainingOptions& training = context.training;
  if (!training.fused.fp8_activation_input) return;
  std::string why;
  if (context.shape.activation != Activation::kSwiGlu) why = "the activation is not a SwiGLU";
  if (training.pointwise != Pointwise::kFused) why = "PyTorch's operators store their inputs";
  if (!has_dense_mlp(context.shape) && training.fused.grouped_mlp) {
    why = "the fused grouped MLP stores its activation's input in the working type";
  }
  if (why.empty()) return;
  context.training_map.warn("activation_func_fp8_input_store", "W131",
                            fmt::format("{} has no effect: {}",
                                        context.training_map.path_of("activation_func_fp8_input_store"), why));
}

void check_batch(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options) {
  if (!check_microbatch_split(parallel, context, options)) return;
  const TrainingOptions& training = context.training;
  const std::int64_t at_once = training.micro_batch * options.dp;
  if (options.replica_microbatches.empty() && training.global_batch % at_once != 0) {
    context.training_map.error("global_batch", "E136",
                               fmt::format("{} = {} is not a multiple of micro_batch x dp = {} x {} = {}",
                                           context.training_map.path_of("global_batch"), training.global_batch,
                                           training.micro_batch, options.dp, at_once),
                               options.meshes.empty()
                                   ? fmt::format("dp comes from {} / (tp {} x cp {} x pp {})",
                                                 context.world.described, options.tp, options.cp, options.pp)
                                   : std::string("dp is that of the stage with the most replicas"));
    return;
  }
  if (!can_be_laid_out(options, training)) {
    context.training_map.error(
        "global_batch", "E136",
        fmt::format("{} = {} results in {} microbatches for each of {} stages; the limit for their product is {}",
                    context.training_map.path_of("global_batch"), training.global_batch, options.microbatches(training),
                    options.pp * options.virtual_stages, kMostPasses),
        "reduce global_batch or increase micro_batch");
    return;
  }
  check_microbatches(parallel, context, options);
}

}  // namespace

void derive_data_parallel(ConfigMap& parallel, std::optional<std::int64_t> given, const World& world,
                          ParallelOptions& options) {
  const std::int64_t model_ranks = std::int64_t{options.tp} * options.cp * options.pp;
  if (!given) {
    options.dp = static_cast<int>(std::max<std::int64_t>(1, world.ranks / model_ranks));
    if (world.ranks % model_ranks == 0) return;
    parallel.error("", "E130",
                   fmt::format("{}: tp {} x cp {} x pp {} = {} ranks do not divide {} = {} ranks", parallel.path(),
                               options.tp, options.cp, options.pp, model_ranks, world.described, world.ranks));
    return;
  }
  options.dp = static_cast<int>(*given);
  if (model_ranks * options.dp == world.ranks) return;
  parallel.error(
      "dp", "E130",
      fmt::format("{}: tp {} x cp {} x pp {} x dp {} = {} ranks, but {} = {} ranks", parallel.path(), options.tp,
                  options.cp, options.pp, options.dp, model_ranks * options.dp, world.described, world.ranks),
      world.ranks % model_ranks == 0
          ? fmt::format("set {}: auto ({})", parallel.path_of("dp"), world.ranks / model_ranks)
          : std::string());
}

namespace {

void check_expert_tensor(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  if (!context.shape.experts || options.tp == 1 || options.sequence_parallel) return;
  parallel.error("sequence_parallel", "E138",
                 fmt::format("{}: experts with tp = {} need sequence parallelism, else every rank would send the same "
                             "tokens",
                             parallel.path_of("sequence_parallel"), options.tp),
                 "set parallel.sequence_parallel: true");
}

// As Megatron-LM's arguments.py requires it: passes of different microbatches need a schedule in which they alternate.
void check_expert_overlap(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  if (!options.experts.overlap_exchange) return;
  const auto refuse = [&](const std::string& why, const std::string& remedy) {
    parallel.error("overlap_moe_expert_parallel_comm", "E370",
                   fmt::format("{} {}", parallel.path_of("overlap_moe_expert_parallel_comm"), why), remedy);
  };
  constexpr std::array<std::string_view, 4> kAlternating = {"1f1b", "interleaved-1f1b", "dualpipe", "dualpipev"};
  if (options.listed || std::ranges::find(kAlternating, options.schedule) == kAlternating.end()) {
    refuse(fmt::format("needs one of the schedules {}, not '{}'", fmt::join(kAlternating, ", "), options.schedule),
           "set parallel.schedule: interleaved-1f1b");
  } else if (options.pp > 1 && options.virtual_stages == 1) {
    refuse(fmt::format("needs several model chunks per stage where pp is {}", options.pp),
           "set parallel.schedule: interleaved-1f1b and parallel.virtual_stages: 2");
  }
  if (context.training.recompute == Recompute::kFull) {
    refuse("is incompatible with full recomputation, which exchanges the tokens again",
           "set training.recompute: selective");
  }
  if (options.experts.overlap_shared) {
    refuse("is incompatible with moe_shared_expert_overlap, which uses the same time", "remove one of them");
  }
  if (options.sharding.parameters) {
    refuse("is incompatible with sharded parameters, whose gathers follow the order of layers",
           "set parallel.zero.stage: 1");
  }
}

// Megatron-LM takes layers in groups without checking whether the last group is complete.
void check_groups_of_layers(const ParallelContext& context, const ParallelOptions& options) {
  const FullRecompute& full = context.training.full;
  if (full.method == RecomputeMethod::kBlock || full.layers == 1) return;
  const std::string key = context.training_map.path_of("recompute_num_layers");
  if (options.sharding.parameters) {
    context.training_map.error("recompute_num_layers", "E146",
                               fmt::format("{} = {}: parameters that are gathered layer by layer (zero.stage 3, fsdp) "
                                           "need groups of one layer",
                                           key, full.layers),
                               fmt::format("set {}: 1", key));
    return;
  }
  // The layers of a chunk are unknown before balancing; the last group is the remainder.
  if (options.stage_layers == StageLayers::kBalanced || options.stage_layers == StageLayers::kBalancedMemory) return;
  for (const std::int64_t layers : options.layers_per_part) {
    if (layers % full.layers == 0) continue;
    context.training_map.error(
        "recompute_num_layers", "E146",
        fmt::format("{} = {} does not divide the {} layers of a model chunk", key, full.layers, layers),
        fmt::format("valid values: {}; or set {}: block", join(divisors(layers), " "),
                    context.training_map.path_of("recompute_method")));
    return;
  }
}

// Which results of routers, exchanges and grouped GEMMs are saved is a matter of each framework's version.
void check_operators(const ParallelContext& context) {
  if (!context.training.recomputes_operators() || !(context.shape.experts || context.shape.latent)) return;
  context.training_map.error("recompute", "E146",
                             fmt::format("operators of {} are not recomputed one by one",
                                         context.shape.experts ? "layers with experts" : "latent attention"),
                             "write full, selective or none");
}

// Megatron-LM's transformer_config.py refuses the same for latent attention, shared experts and Gated DeltaNet.
void check_modules(const ParallelContext& context, const ParallelOptions& options) {
  const TrainingOptions& training = context.training;
  const ModelShape& shape = context.shape;
  ConfigMap& map = context.training_map;
  const auto refuse = [&](bool given, std::string_view module, std::string_view why) {
    if (given) map.error("recompute_modules", "E146", fmt::format("module {}: {}", module, why), "remove it");
  };
  const auto idle = [&](bool given, std::string_view module, std::string_view why) {
    if (!given) return;
    map.warn("recompute_modules", "W131",
             fmt::format("{}: {} has no effect: {}", map.path_of("recompute_modules"), module, why));
  };
  const auto has = [&](bool RecomputedModules::*module) { return training.recomputes(module); };
  refuse(has(&RecomputedModules::latent_projection) && !shape.latent, "mla_up_proj",
         "the model has no latent attention");
  refuse(has(&RecomputedModules::gated_norm) && !shape.delta_net, "gdn_norm_out", "the model has no Gated DeltaNet");
  refuse(has(&RecomputedModules::shared_experts) && options.experts.overlap_shared, "shared_experts",
         "it is incompatible with moe_shared_expert_overlap");
  refuse(has(&RecomputedModules::experts) && options.experts.overlap_exchange, "moe",
         "it exchanges the tokens again, which overlap_moe_expert_parallel_comm does not interleave");
  refuse(has(&RecomputedModules::mlp) && shape.order != BlockOrder::kSequential, "mlp",
         "in parallel blocks attention and MLP are not recomputed one by one");
  const std::string_view no_experts = "the model has no experts";
  idle(has(&RecomputedModules::experts) && !shape.experts, "moe", no_experts);
  idle(has(&RecomputedModules::expert_activation) && !shape.experts, "moe_act", no_experts);
  idle(has(&RecomputedModules::shared_experts) && !(shape.experts && shape.experts->shared_ffn > 0), "shared_experts",
       "the model has no shared experts");
}

void check_recomputation(const ParallelContext& context, ParallelOptions& options) {
  check_groups_of_layers(context, options);
  check_operators(context);
  check_modules(context, options);
  if (!context.training.full.distributed) return;
  const std::string key = context.training_map.path_of("distribute_saved_activations");
  if (options.sequence_parallel) {
    context.training_map.error(
        "distribute_saved_activations", "E146",
        fmt::format("{}: with sequence parallelism every rank already stores only its own part", key),
        fmt::format("remove {}", key));
  } else if (options.tp == 1) {
    context.training_map.warn("distribute_saved_activations", "W131", fmt::format("{} has no effect: tp is 1", key));
  }
}

}  // namespace

namespace {

double real(std::int64_t number) { return static_cast<double>(number); }

// The sizes of a model to the order of magnitude: of integers that fit 64 bits only one by one.
struct Magnitude {
  explicit Magnitude(const ModelShape& shape)
      : layers(real(shape.layers + shape.predictors)),
        attention(std::max(real(shape.hidden), real(shape.heads) * real(shape.head_size))) {
    const double experts = shape.experts ? real(shape.experts->count) : 1.0;
    const double wide = shape.experts ? std::max(real(shape.experts->ffn), real(shape.experts->shared_ffn)) : 0.0;
    ffn = std::max(real(shape.ffn), wide);
    parameters = layers * real(shape.hidden) * (4.0 * attention + 3.0 * ffn * (experts + 1.0)) +
                 2.0 * real(shape.vocabulary) * real(shape.hidden);
  }

  double layers;
  double attention;  // width
  double ffn = 0.0;  // width
  double parameters = 0.0;
};

// Each size is in range, but products of several must also fit 64 bits: parameters, and the activation bytes of a
// microbatch (Korthikanti et al., arXiv 2205.05198, section 4.1: 34 s b h and 5 a s^2 b per layer).
void check_magnitude(const ParallelContext& context, const Magnitude& model) {
  constexpr double kMost = 1e17;
  const ModelShape& shape = context.shape;
  const double visited = shape.experts ? real(shape.experts->per_token) : 1.0;
  const double tokens = real(shape.sequence) * real(context.training.micro_batch);
  const double kept =
      tokens * (model.layers * 34.0 * std::max(model.attention, model.ffn * visited) + 8.0 * real(shape.vocabulary));
  const double scores = 5.0 * real(shape.heads) * tokens * real(shape.sequence);
  if (model.parameters > kMost) {
    context.training_map.error("", "E132",
                               fmt::format("the model has about {:.1e} parameters, and at most {:.0e} can be counted",
                                           model.parameters, kMost));
  }
  if (std::max(kept, scores) > kMost) {
    context.training_map.error(
        "micro_batch", "E132",
        fmt::format("a microbatch of {} sequences of {} tokens stores about {:.1e} bytes of activations, and at most "
                    "{:.0e} can be counted",
                    context.training.micro_batch, shape.sequence, std::max(kept, scores), kMost));
  }
}

// The optimizer of a host updates its parameters sub-group by sub-group, and each one is simulated.
void check_sub_groups(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options,
                      const Magnitude& model) {
  constexpr double kMost = 1e5;
  if (options.offload.optimizer == Tier::kGpu) return;
  const double groups = model.parameters / real(context.world.ranks) / real(options.offload.sub_group);
  if (groups <= kMost) return;
  parallel.error("zero", "E132",
                 fmt::format("{}.sub_group_size = {} divides the optimizer of a rank into about {:.0e} sub-groups; the "
                             "limit is {:.0e}",
                             parallel.path_of("zero"), options.offload.sub_group, groups, kMost),
                 "DeepSpeed's default is 1,000,000,000 parameters");
}

}  // namespace

bool can_be_laid_out(const ParallelOptions& options, const TrainingOptions& training) {
  return options.microbatches(training) <= kMostPasses / (std::int64_t{options.pp} * options.virtual_stages);
}

void check_layout(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options) {
  const Magnitude model(context.shape);
  check_magnitude(context, model);
  check_sub_groups(parallel, context, options, model);
  check_context(parallel, context, options);
  check_tensor(parallel, context, options);
  check_layer_kinds(parallel, context, options);
  check_narrow_parameters(context, options);
  check_operator_fuser(context);
  check_activation_input(context);
  check_expert_tensor(parallel, context, options);
  check_expert_overlap(parallel, context, options);
  check_pipeline(parallel, context, options);
  check_stage_meshes(parallel, context, options);
  check_recomputation(context, options);
  check_batch(parallel, context, options);
}

}  // namespace ringwright::workload
