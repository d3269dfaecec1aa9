#include "workload/options/training_options.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/options/document_mix.h"
#include "workload/options/narrow_types.h"
#include "workload/options/recomputed_modules.h"

namespace ringwright::workload {
namespace {

constexpr std::array kPrecisions{Option{"bf16", "weights and activations in bf16, master weights in fp32"},
                                 Option{"fp16", "weights and activations in fp16, master weights in fp32"},
                                 Option{"fp32", "everything in fp32"}};
constexpr std::array kStateTypes{Option{"fp32", "four bytes"}, Option{"bf16", "two bytes"}, Option{"fp16", "two bytes"},
                                 Option{"fp8", "one byte, with one scale per tensor"}};
constexpr std::array kMasterTypes{Option{"fp32", "four bytes"}, Option{"fp16", "two bytes"}};
constexpr std::array kRecomputes{
    Option{"none", "every activation is stored for the backward pass"},
    Option{"selective", "the attention core is recomputed in the backward pass"},
    Option{"selective-ops",
           "norms, every second GEMM and cheap operators are recomputed, as with torchtitan's option `op`"},
    Option{"except-saved",
           "everything that a gradient reads is recomputed except `recompute_saves`, as with JAX's "
           "policies"},
    Option{"full", "only each layer's input is stored; the whole layer is recomputed"}};
constexpr std::array kGradTypes{Option{"fp32", "gradients are accumulated and reduced in fp32"},
                                Option{"bf16", "gradients are accumulated and reduced in two bytes"}};
constexpr std::array kAttentions{Option{"fused", "one kernel that never writes the score matrix (FlashAttention)"},
                                 Option{"unfused", "GEMMs, softmax and dropout as separate kernels"}};

struct NamedOptimizer {
  Option option;
  OptimizerKind kind;
};
constexpr std::array kOptimizers{
    NamedOptimizer{{"adam", "two moments per parameter"}, OptimizerKind::kAdam},
    NamedOptimizer{{"adamw", "the same with decoupled weight decay"}, OptimizerKind::kAdamW},
    NamedOptimizer{{"lamb", "two moments, and a layer-wise update scale: two more norms per tensor"},
                   OptimizerKind::kLamb},
    NamedOptimizer{{"amsgrad", "adam with the largest second moment: three moments per parameter"},
                   OptimizerKind::kAmsgrad},
    NamedOptimizer{{"sgd", "one moment, none without sgd_momentum"}, OptimizerKind::kSgd}};

DataType parse_precision(std::string_view text) {
  if (text == "fp32") return DataType::kFp32;
  return text == "fp16" ? DataType::kFp16 : DataType::kBf16;
}

DataType parse_state(std::string_view text) {
  if (text == "fp8") return DataType::kFp8;
  return text == "fp16" ? DataType::kFp16 : text == "bf16" ? DataType::kBf16 : DataType::kFp32;
}

Recompute parse_recompute(std::string_view text) {
  if (text == "full") return Recompute::kFull;
  if (text == "selective-ops") return Recompute::kOperators;
  if (text == "except-saved") return Recompute::kExceptSaved;
  return text == "selective" ? Recompute::kSelective : Recompute::kNone;
}

struct NamedLoss {
  Option option;
  CrossEntropy kind;
};
constexpr std::array kLosses{
    NamedLoss{{"split", "Megatron's, over a split vocabulary: fp32 softmax, and the logits or their gradient"},
              CrossEntropy::kSplit},
    NamedLoss{{"split-fused", "the same with fewer passes (Megatron's --cross-entropy-loss-fusion, native)"},
              CrossEntropy::kSplitFused},
    NamedLoss{{"fused", "one kernel that overwrites the logits with their gradient"}, CrossEntropy::kFused},
    NamedLoss{{"eager", "PyTorch's log-softmax and loss in fp32"}, CrossEntropy::kEager},
    NamedLoss{{"compiled", "the same by torch.compile: nothing in fp32 is written"}, CrossEntropy::kCompiled},
    NamedLoss{{"chunked", "fused with the output layer, chunk by chunk (Liger): the full logits never exist"},
              CrossEntropy::kChunked}};
constexpr std::array kImplementations{
    Option{"local", "wgrad GEMMs add to the main gradient in place"},
    Option{"transformer_engine", "the same, with one buffer stored per weight shape"}};

constexpr std::array kPointwise{
    Option{"fused", "one kernel per norm, rotation and activation (Transformer Engine, Apex, torch.compile)"},
    Option{"eager", "one kernel per PyTorch operator"}};

constexpr std::array kGradientSums{
    Option{"fused", "the wgrad GEMM adds to the step's gradient in its epilogue (Megatron)"},
    Option{"separate", "the wgrad GEMM writes its result and a separate kernel adds it (PyTorch, Megatron before 3.0)"},
    Option{"copied", "as DeepSpeed's BF16_Optimizer: the result is stored, cast to fp32 and added in two kernels"}};

constexpr std::array kProjections{
    Option{"fused", "one GEMM for queries, keys and values, and one for both halves of a gated MLP (Megatron)"},
    Option{"separate", "separate GEMMs, as in torchtitan and Hugging Face"}};

CrossEntropy read_loss(ConfigMap& training, Framework framework) {
  std::vector<Option> options;
  for (const NamedLoss& entry : kLosses) options.push_back(entry.option);
  const std::string name = training.choice(
      {.name = "cross_entropy",
       .doc = "how the loss is computed: its passes over the logits, and what is stored of them; with parallel.fsdp "
              "eager by default, as PyTorch's cross_entropy, else Megatron's split",
       .fallback = std::string(framework == Framework::kPyTorch ? "eager" : "split")},
      options);
  for (const NamedLoss& entry : kLosses) {
    if (entry.option.name == name) return entry.kind;
  }
  return CrossEntropy::kSplit;
}

void read_kernel_choices(ConfigMap& training, Framework framework, TrainingOptions& options) {
  options.cross_entropy = read_loss(training, framework);
  options.loss_metrics = training.integer({.name = "loss_metrics",
                                           .doc = "number of metrics that the trainer computes from the logits of "
                                                  "every microbatch, each as PyTorch's cross-entropy",
                                           .fallback = 0,
                                           .min = 0,
                                           .max = 100});
  options.pointwise =
      training.choice(
          {.name = "pointwise", .doc = "how norms, rotary embedding and activations are run", .fallback = "fused"},
          kPointwise) == "eager"
          ? Pointwise::kEager
          : Pointwise::kFused;
  const std::string sum = training.choice({.name = "gradient_accumulation",
                                           .doc = "how weight gradients of a microbatch are added to those of the step",
                                           .fallback = "fused"},
                                          kGradientSums);
  options.gradient_sum = sum == "copied"     ? GradientSum::kCopied
                         : sum == "separate" ? GradientSum::kSeparate
                                             : GradientSum::kFused;
  options.separate_projections =
      training.choice({.name = "projections", .doc = "which weights share a GEMM", .fallback = "fused"},
                      kProjections) == "separate";
  options.norm_keeps_output =
      training.boolean({.name = "memory_efficient_layer_norm",
                        .doc = "a norm's backward pass starts from its output, which the next GEMM stores anyway, and "
                               "its input is freed (Apex)",
                        .fallback = false});
  options.weight_gradient_buffers =
      training.choice(
          {.name = "transformer_impl", .doc = "whose layer implementation, for its memory use", .fallback = "local"},
          kImplementations) == "transformer_engine";
}

constexpr std::array kMethods{
    Option{"uniform",
           "layers in groups of recompute_num_layers; a group stores its first input and is recomputed as a whole"},
    Option{"block",
           "the first recompute_num_layers layers of each model chunk one by one; the others store "
           "everything"}};

void read_full(ConfigMap& training, TrainingOptions& options) {
  options.full.method =
      training.choice({.name = "recompute_method", .doc = "the layers of full recomputation", .fallback = "uniform"},
                      kMethods) == "block"
          ? RecomputeMethod::kBlock
          : RecomputeMethod::kUniform;
  options.full.layers = static_cast<int>(
      training.integer({.name = "recompute_num_layers",
                        .doc = "layers per group (uniform), or recomputed layers per model chunk (block)",
                        .fallback = 1,
                        .min = 1,
                        .max = 10'000}));
  options.full.distributed = training.boolean(
      {.name = "distribute_saved_activations",
       .doc = "tensor-parallel ranks split the stored inputs of full recomputation and gather them before use",
       .fallback = false});
  options.full.on_host = training.boolean({.name = "cpu_checkpointing",
                                           .doc = "the stored inputs of full recomputation are offloaded to host "
                                                  "memory (DeepSpeed)",
                                           .fallback = false});
  if (options.recompute == Recompute::kFull) return;
  for (const std::string_view key :
       {"recompute_method", "recompute_num_layers", "distribute_saved_activations", "cpu_checkpointing"}) {
    if (!training.has(key)) continue;
    training.warn(key, "W131", fmt::format("{} has no effect: recompute is not full", training.path_of(key)));
  }
  options.full = {};
}

void read_optimizer(ConfigMap& training, OptimizerTypes& types) {
  std::vector<Option> options;
  for (const NamedOptimizer& entry : kOptimizers) options.push_back(entry.option);
  const std::string name = training.choice({.name = "optimizer", .doc = "the optimizer", .fallback = "adam"}, options);
  for (const NamedOptimizer& entry : kOptimizers) {
    if (entry.option.name == name) types.kind = entry.kind;
  }
  if (types.kind == OptimizerKind::kSgd || training.documenting()) {
    types.momentum = training.number({.name = "sgd_momentum",
                                      .doc = "of SGD; 0: no moment is stored",
                                      .fallback = 0.9,
                                      .min = 0.0,
                                      .max = 1.0}) > 0.0;
  } else {
    training.ignore("sgd_momentum", "only SGD has it");
  }
  if (types.kind == OptimizerKind::kSgd) training.ignore("exp_avg_sq_dtype", "SGD has no second moment");
}

void read_optimizer_types(ConfigMap& training, OptimizerTypes& types) {
  read_optimizer(training, types);
  types.master = parse_state(training.choice(
      {.name = "main_params_dtype", .doc = "type of the optimizer's main weights", .fallback = "fp32"}, kMasterTypes));
  types.first = parse_state(training.choice(
      {.name = "exp_avg_dtype", .doc = "type of Adam's first moment", .fallback = "fp32"}, kStateTypes));
  if (types.kind == OptimizerKind::kSgd) return;
  types.second = parse_state(training.choice(
      {.name = "exp_avg_sq_dtype", .doc = "type of Adam's second moment", .fallback = "fp32"}, kStateTypes));
}

// Megatron-Core, optimizer_config.py: store_param_remainders, on by default.
void read_precision_aware(ConfigMap& training, TrainingOptions& options) {
  OptimizerTypes& types = options.optimizer;
  types.precision_aware =
      training.boolean({.name = "use_precision_aware_optimizer",
                        .doc = "Megatron's: one kernel reads gradients in the type in which they were reduced, and "
                               "writes the weights; of main weights in fp32 it stores the two bytes that weights in "
                               "bf16 lack",
                        .fallback = false});
  if (!types.precision_aware || training.documenting()) return;
  if (types.kind != OptimizerKind::kAdam && types.kind != OptimizerKind::kAdamW) {
    training.error("use_precision_aware_optimizer", "E141",
                   fmt::format("{} needs Adam: Megatron-LM has it for no other optimizer",
                               training.path_of("use_precision_aware_optimizer")),
                   "remove it, or set optimizer: adam");
  }
  types.remainders = options.precision == DataType::kBf16 && types.master == DataType::kFp32 &&
                     !options.narrow_parameters;
}

void read_modules(ConfigMap& training, TrainingOptions& options) {
  const std::vector<std::string> names = training.texts(
      {.name = "recompute_modules",
       .doc = "modules that selective recomputation recomputes: core_attn (default), layernorm, mla_up_proj, mlp, moe, "
              "moe_act, shared_experts, gdn_norm_out"});
  if (names.empty()) return;
  if (options.recompute != Recompute::kSelective) {
    training.warn("recompute_modules", "W131",
                  fmt::format("{} has no effect: recompute is not selective", training.path_of("recompute_modules")));
    return;
  }
  options.modules.core_attention = false;
  for (const std::string& name : names) {
    const auto known = std::ranges::find(kNamedModules, name, &NamedModule::name);
    if (known != kNamedModules.end()) {
      options.modules.*known->module = true;
    } else {
      std::vector<std::string_view> all;
      for (const NamedModule& one : kNamedModules) all.push_back(one.name);
      training.error("recompute_modules", "E133", fmt::format("'{}' is not a module that can be recomputed", name),
                     fmt::format("use {}; or recompute: full", fmt::join(all, ", ")));
    }
  }
}

struct NamedResult {
  std::string_view name;
  bool SavedResults::*result;
};
constexpr std::array kResults{NamedResult{"qkv", &SavedResults::qkv}, NamedResult{"core_attn", &SavedResults::core},
                              NamedResult{"proj", &SavedResults::projection},
                              NamedResult{"mlp_up", &SavedResults::mlp_up}};

void read_saved(ConfigMap& training, TrainingOptions& options) {
  const std::vector<std::string> names = training.texts(
      {.name = "recompute_saves",
       .doc = "results of a layer that `except-saved` stores in addition to its input: qkv, core_attn, proj, mlp_up"});
  if (!names.empty() && options.recompute != Recompute::kExceptSaved) {
    return training.warn(
        "recompute_saves", "W131",
        fmt::format("{} has no effect: recompute is not except-saved", training.path_of("recompute_saves")));
  }
  for (const std::string& name : names) {
    const auto found = std::ranges::find(kResults, name, &NamedResult::name);
    if (found != kResults.end()) {
      options.saved.*(found->result) = true;
    } else {
      training.error("recompute_saves", "E133", fmt::format("'{}' is not a result that can be saved", name),
                     "use qkv, core_attn, proj, mlp_up");
    }
  }
}

}  // namespace

std::string_view to_string(OptimizerKind kind) {
  for (const NamedOptimizer& entry : kOptimizers) {
    if (entry.kind == kind) return entry.option.name;
  }
  return "";
}

std::string_view to_string(CrossEntropy kind) {
  for (const NamedLoss& entry : kLosses) {
    if (entry.kind == kind) return entry.option.name;
  }
  return "";
}

TrainingOptions read_training_options(ConfigMap& training, Framework framework) {
  TrainingOptions options;
  options.global_batch = training.integer(
      {.name = "global_batch", .doc = "sequences in one training step", .min = 1, .max = 1'000'000'000});
  options.micro_batch = training.integer(
      {.name = "micro_batch", .doc = "sequences per microbatch and replica", .fallback = 1, .min = 1, .max = 10'000});
  read_documents(training, options);
  options.precision = parse_precision(training.choice(
      {.name = "precision",
       .doc = "type of weights and activations",
       .fallback = "bf16",
       .elsewhere = "GEMMs in fp8 and fp4: fp8_recipe and fp4_recipe, with precision: bf16"},
      kPrecisions));
  read_narrow_types(training, options);
  options.grad_reduce =
      training.choice(
          {.name = "grad_reduce_dtype", .doc = "type of the gradients that ranks reduce", .fallback = "fp32"},
          kGradTypes) == "bf16"
          ? DataType::kBf16
          : DataType::kFp32;
  options.compression = read_compression(training);
  options.local_sgd = read_local_sgd(training);
  read_optimizer_types(training, options.optimizer);
  read_precision_aware(training, options);
  options.recompute = parse_recompute(training.choice(
      {.name = "recompute", .doc = "activation recomputation, to save memory", .fallback = "none"}, kRecomputes));
  read_modules(training, options);
  read_saved(training, options);
  read_full(training, options);
  options.attention =
      training.choice({.name = "attention", .doc = "how the attention core is computed", .fallback = "fused"},
                      kAttentions) == "unfused"
          ? AttentionKernel::kUnfused
          : AttentionKernel::kFused;
  warn_of_unfused_documents(training, options);
  read_kernel_choices(training, framework, options);
  const bool narrow = options.narrow != NarrowRecipe::kNone;
  options.fused = read_fused_kernels(training, narrow ? NarrowTypes::kSome : NarrowTypes::kNone);
  return options;
}

namespace {

// Tensor cores that scale every 32 values: from Blackwell on (Transformer Engine refuses MXFP8 below), and AMD's from
// CDNA 4 on, its first that compute in fp4.
constexpr double kScalesOfBlocks = 10.0;
bool scales_blocks(const GpuSpec& gpu) {
  if (!gpu.nvidia) return gpu.peak_of(DataType::kFp4) > FlopRate(0.0);
  return gpu.compute_capability <= 0.0 || gpu.compute_capability >= kScalesOfBlocks;
}

void check_narrow(ConfigMap& training, const TrainingOptions& options, const GpuSpec& gpu) {
  const DataType narrow = options.gemm_type();
  const std::string_view name = narrow == DataType::kFp4 ? "fp4_recipe" : "fp8_recipe";
  const std::string key = training.path_of(name);
  if (gpu.peak_of(narrow) <= FlopRate(0.0)) {
    return training.error(
        name, "E135",
        fmt::format("{} needs {}, which {} does not have (cluster.node.gpu.peak)", key, to_string(narrow), gpu.name),
        fmt::format("set {}: none", key));
  }
  if (options.narrow == NarrowRecipe::kNvfp4 && !gpu.nvidia) {
    return training.error(name, "E135",
                          fmt::format("{} = nvfp4 scales every 16 values, and the matrix cores of {} every 32", key,
                                      gpu.name),
                          fmt::format("set {}: mxfp4", key));
  }
  if (options.narrow != NarrowRecipe::kMxfp8 || scales_blocks(gpu)) return;
  const std::string has = gpu.nvidia ? fmt::format(" (compute capability {:.1f}), and {} has {:.1f}", kScalesOfBlocks,
                                                   gpu.name, gpu.compute_capability)
                                     : fmt::format(", and {} is older than CDNA 4", gpu.name);
  training.error(name, "E135",
                 fmt::format("{} = mxfp8 needs tensor cores that scale every 32 values{}", key, has),
                 fmt::format("set {}: blockwise", key));
}

}  // namespace

void check_precision(ConfigMap& training, const TrainingOptions& options, const GpuSpec& gpu) {
  if (options.narrow != NarrowRecipe::kNone) check_narrow(training, options, gpu);
  if (gpu.name.empty() || gpu.peak_of(options.precision) > FlopRate(0.0)) return;  // no name: its own mistake
  training.error(
      "precision", "E135",
      fmt::format("{} = {}, but {} has no {} arithmetic (cluster.node.gpu.peak)", training.path_of("precision"),
                  to_string(options.precision), gpu.name, to_string(options.precision)),
      fmt::format("set {}: fp16", training.path_of("precision")));
}

}  // namespace ringwright::workload
