// How a model is trained: batch, precision, recomputation, and how the work is split over ranks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/config/config_map.h"
#include "core/plan/kernel.h"
#include "workload/gpu/gpu_spec.h"
#include "workload/model/model_shape.h"
#include "workload/options/expert_options.h"
#include "workload/options/layer_layout.h"
#include "workload/options/offload_options.h"
#include "workload/options/sharding_options.h"
#include "workload/options/tensor_overlap.h"
#include "workload/pipeline/schedule_file.h"
#include "workload/pipeline/weight_versions.h"

namespace ringwright::workload {

// Operators: of each layer the norms, every second product (keys, projection, gate) and what is cheap; the attention's
// result stays (torchtitan's selective activation checkpointing by op). ExceptSaved: all that is not in a list of
// results, and of that only what a gradient reads (JAX's policies: XLA drops a product whose result nobody reads).
enum class Recompute { kNone, kSelective, kOperators, kExceptSaved, kFull };
// Which layers full recomputation takes together, in Megatron's words: kept_layers.h.
enum class RecomputeMethod { kUniform, kBlock };
struct FullRecompute {
  RecomputeMethod method = RecomputeMethod::kUniform;
  int layers = 1;            // of a group (uniform), or of a part that are computed again (block)
  bool distributed = false;  // tensor-parallel ranks share what is kept of a layer and gather it before its use
  bool on_host = false;      // what is kept waits in host memory
};
// Fused: one kernel that never writes the score matrix (FlashAttention). Unfused: products, softmax and dropout apart,
// as frameworks did up to 2022.
// What of the logits is there at a time, for each: Megatron's split cross-entropy (fp32 softmax kept, logits or their
// gradient beside it: 4 + 2 bytes), the same with its passes fused, one kernel that writes the gradient over the logits
// (2), PyTorch's log-softmax and loss one after the other in fp32 (4 + 8; over a split vocabulary 4 + 12:
// torch/distributed/tensor/parallel/loss.py adds the exponential to a gradient of its own), the same compiled (logits
// and their gradient: 2 + 2), or fused with the output layer chunk by chunk (Liger).
enum class CrossEntropy { kSplit, kSplitFused, kFused, kEager, kCompiled, kChunked };
enum class AttentionKernel { kFused, kUnfused };
// How a microbatch's weight gradients come to those of the step. Fused: the product adds them in its epilogue.
// Separate: it writes them, and a kernel for each weight adds them. Copied: DeepSpeed's BF16_Optimizer (update_hp_grads
// in bf16_optimizer.py) keeps those of the microbatch, casts them to fp32, and adds that.
enum class GradientSum { kFused, kSeparate, kCopied };
// Norms, rotations and activations: a kernel for each, or one for each operator of PyTorch.
enum class Pointwise { kFused, kEager };

// Products of the layers in fp8, as Transformer Engine scales them: by the maximum of earlier steps or of this tensor,
// by rows of each operand (torchao's float8/config.py, rowwise: cast again for every product, along its own sums), by
// tiles of 128 values (DeepSeek-V3), or by 32 values (MXFP8); or in fp4, by 16 values and the tensor's maximum
// (NVFP4), or by 32 values (MXFP4). Attention core, router, logits and loss stay as they are.
enum class NarrowRecipe { kNone, kDelayed, kTensorwise, kRowwise, kBlockwise, kMxfp8, kNvfp4, kMxfp4 };

// LAMB scales each tensor's update by the ratio of its weights' norm to the update's (arXiv 1904.00962); AMSGrad keeps
// the largest second moment beside the present one (arXiv 1904.09237).
enum class OptimizerKind { kAdam, kAdamW, kLamb, kAmsgrad, kSgd };
[[nodiscard]] std::string_view to_string(OptimizerKind kind);

// Of an optimizer's state, in the words of Megatron's precision-aware optimizer.
struct OptimizerTypes {
  OptimizerKind kind = OptimizerKind::kAdam;
  bool momentum = true;               // of SGD: its one moment
  DataType master = DataType::kFp32;  // weights; those of a model in fp32 are their own
  DataType first = DataType::kFp32;   // moments
  DataType second = DataType::kFp32;

  // Bytes of one parameter.
  [[nodiscard]] double moments() const {
    if (kind == OptimizerKind::kSgd) return momentum ? bytes_per_element(first) : 0.0;
    return bytes_per_element(first) + (kind == OptimizerKind::kAmsgrad ? 2.0 : 1.0) * bytes_per_element(second);
  }
  [[nodiscard]] double state() const { return bytes_per_element(master) + moments(); }
};

// What selective recomputation computes again, in Megatron's words for modules.
struct RecomputedModules {
  bool core_attention = true;
  bool norms = false;              // "layernorm": the inputs of the products that follow are not kept
  bool latent_projection = false;  // "mla_up_proj": queries, keys and values are not kept, the latent vectors are
  bool expert_activation = false;  // "moe_act"
};

// Results of a layer that are kept where all others are computed again.
struct SavedResults {
  bool qkv = false;  // queries, keys and values
  bool core = false;
  bool projection = false;
  bool mlp_up = false;  // both parts of a gated one
};

struct TrainingOptions {
  std::int64_t global_batch = 1;  // sequences
  std::int64_t micro_batch = 1;   // sequences
  std::int64_t document = 0;      // mean tokens of the documents packed into a sequence; 0: one that fills it
  DataType precision = DataType::kBf16;
  NarrowRecipe narrow = NarrowRecipe::kNone;
  bool narrow_gather = false;  // tensor-parallel ranks cast their part of the sequence and gather what is narrow
  DataType grad_reduce = DataType::kFp32;
  OptimizerTypes optimizer;
  Recompute recompute = Recompute::kNone;
  RecomputedModules modules;  // of selective recomputation
  FullRecompute full;
  SavedResults saved;
  AttentionKernel attention = AttentionKernel::kFused;
  CrossEntropy cross_entropy = CrossEntropy::kSplit;
  Pointwise pointwise = Pointwise::kFused;
  GradientSum gradient_sum = GradientSum::kFused;
  bool separate_projections =
      false;                      // queries, keys and values, and both parts of a gated MLP, as weights of their own
  std::int64_t loss_metrics = 0;  // that a trainer computes from the logits beside the loss
  bool norm_keeps_output = false;        // for its backward pass, instead of its input (Apex, memory_efficient)
  bool weight_gradient_buffers = false;  // Transformer Engine keeps one buffer for each shape of a weight

  // Packed into a sequence of so many tokens.
  [[nodiscard]] std::int64_t documents(std::int64_t sequence) const {
    return document == 0 ? 1 : std::max<std::int64_t>(1, (sequence + document / 2) / document);
  }
  // Of the layers' products.
  [[nodiscard]] DataType gemm_type() const {
    if (narrow == NarrowRecipe::kNone) return precision;
    const bool fp4 = narrow == NarrowRecipe::kNvfp4 || narrow == NarrowRecipe::kMxfp4;
    return fp4 ? DataType::kFp4 : DataType::kFp8;
  }
  [[nodiscard]] bool recomputes(bool RecomputedModules::*module) const {
    return recompute == Recompute::kSelective && modules.*module;
  }
};

// Even: equal parts, where embedding and logits may count as a layer of the first and the last part. Filled: as many as
// the fullest needs, one part after the other, and the last what remains (partition_balanced of DeepSpeed's
// runtime/utils.py over layers that weigh the same). Balanced: by the modelled time, or by the memory that stages need.
// Ends: first and last stage as told, the others alike.
enum class StageLayers { kEven, kFilled, kListed, kBalanced, kBalancedMemory, kEnds };

// How context-parallel ranks come to all keys and values; Megatron's cp_comm_type. Ring: blocks go round while others
// are computed. All-gather: everyone gets all of them first (Llama 3). All-to-all: heads are exchanged for tokens
// (Ulysses); hierarchical: that among neighbours, a ring beyond.
enum class ContextExchange { kRing, kAllGather, kAllToAll, kHierarchical };

struct ParallelOptions {
  int tp = 1;
  int pp = 1;
  int cp = 1;
  int dp = 1;
  ContextExchange context_exchange = ContextExchange::kRing;
  int ulysses = 1;               // ranks among which heads are exchanged for tokens
  bool context_balanced = true;  // zig-zag: each rank has a chunk from the front and its counterpart from the back
  ExpertOptions experts;
  std::string schedule = "1f1b";
  Placement placement = Placement::kLooped;
  int virtual_stages = 1;    // model parts ("chunks") per pipeline stage
  int microbatch_group = 0;  // interleaving: microbatches that pass a chunk before the next one; 0: pp
  WeightVersions versions = WeightVersions::kOne;
  bool recompute_ahead = false;  // of its gradient's arrival; the last stage then computes nothing again
  bool post_validation = false;  // the optimizer does not wait for the gradient's norm over all stages
  StageLayers stage_layers = StageLayers::kEven;
  bool embedding_counts = false;  // as a layer of the first part
  bool loss_counts = false;       // as a layer of the last part
  EndLayers end_layers;
  std::vector<std::int64_t> layers_per_part;  // by part, in model order
  std::optional<ListedSchedule> listed;       // instead of `schedule`
  bool sequence_parallel = false;
  bool scatter_gather_p2p = true;  // without sequence parallelism: send 1/tp of an activation, gather it on arrival
  bool scatter_gather_gradients = true;  // and of its gradient
  bool async_reduce = true;              // of a column-parallel layer's input gradient, beside its weight gradient
  bool keep_gathered = false;            // inputs of column-parallel layers stay whole until their weight gradient
  TensorOverlap tensor_overlap;
  bool overlap_p2p = false;  // a send does not hold up the next computation
  int zero_stage = 0;
  bool overlap_grad_reduce = false;
  bool overlap_param_gather = false;
  GradientReduction gradient_reduction = GradientReduction::kLastMicrobatch;  // below ZeRO stage 3
  bool allreduce_buckets = false;  // DeepSpeed: every rank gets all sums of a bucket and keeps those of its partition
  bool flat_gradients = false;  // DeepSpeed: reduced out of a buffer, updated from one tensor
  std::int64_t flat_bucket = 0;  // elements of that buffer
  Bytes bucket;              // gradient bytes of one bucket; 0: Megatron's default
  ShardingOptions sharding;  // zero_stage is then 3
  OffloadOptions offload;

  // Ranks that hold copies of the same dense parameters, and of the same experts.
  [[nodiscard]] int replicas() const { return dp * cp; }
  [[nodiscard]] int expert_replicas() const { return tp * cp * dp / (experts.etp * experts.ep); }
  // Sharded parameters: experts have other copies than the rest, and shards of their own among those (DeepSpeed-MoE).
  [[nodiscard]] bool shards_experts_apart() const { return sharding.parameters && sharding.experts_apart; }
  [[nodiscard]] int ring() const { return cp / ulysses; }
  [[nodiscard]] PipelineShape pipeline() const {
    return {.placement = placement, .stages = pp, .chunks = virtual_stages};
  }
  [[nodiscard]] int parts() const { return pipeline().parts(); }
  // Every training step begins and ends with an empty pipeline.
  [[nodiscard]] bool flushes() const { return versions == WeightVersions::kOne; }
  [[nodiscard]] std::int64_t microbatches(const TrainingOptions& training) const {
    return training.global_batch / (training.micro_batch * dp);
  }
};

// How many ranks the cluster has, and where that was said: "cluster.nodes = 4 x 8 GPUs (scenario.yaml:20)".
struct World {
  std::int64_t ranks = 1;
  std::string described;
  int host_ranks = 8;  // GPUs of a host
};

[[nodiscard]] TrainingOptions read_training_options(ConfigMap& training);
// An error when the GPU has no arithmetic of that type.
void check_precision(ConfigMap& training, const TrainingOptions& options, const GpuSpec& gpu);
// Derives dp, and checks the layout against the model, the batch and the cluster. Mistakes are recorded in the maps;
// what comes back is then harmless only in the sense that it may be thrown away.
struct ParallelContext {
  const ModelShape& shape;
  const TrainingOptions& training;
  const ConfigMap& model_map;  // for the places of the numbers that do not fit
  ConfigMap& training_map;
  const World& world;
  const ListedSchedule* listed = nullptr;  // what parallel.schedule_file holds
};
[[nodiscard]] ParallelOptions read_parallel_options(ConfigMap& parallel, const ParallelContext& context);

}  // namespace ringwright::workload
