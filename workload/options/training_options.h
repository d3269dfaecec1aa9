// The training settings of a model: batch, precision, recomputation, and the split of the work over ranks.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/config/config_map.h"
#include "core/plan/kernel.h"
#include "workload/gpu/gpu_spec.h"
#include "workload/model/model_shape.h"
#include "workload/options/compression_options.h"
#include "workload/options/expert_options.h"
#include "workload/options/fused_kernels.h"
#include "workload/options/layer_fusion_options.h"
#include "workload/options/layer_layout.h"
#include "workload/options/local_sgd_options.h"
#include "workload/options/offload_options.h"
#include "workload/options/sharding_options.h"
#include "workload/options/tensor_overlap.h"
#include "workload/pipeline/schedule_file.h"
#include "workload/pipeline/weight_versions.h"

namespace ringwright::workload {

// Operators: of each layer the norms, every second GEMM (keys, projection, gate) and cheap operators; the attention's
// result is stored (torchtitan's selective activation checkpointing by op). ExceptSaved: everything that a gradient
// reads except a list of results (JAX's policies: XLA removes a GEMM whose result is unused).
enum class Recompute { kNone, kSelective, kOperators, kExceptSaved, kFull };
// The grouping of layers in full recomputation, in Megatron's terms: kept_layers.h.
enum class RecomputeMethod { kUniform, kBlock };
struct FullRecompute {
  RecomputeMethod method = RecomputeMethod::kUniform;
  int layers = 1;            // per group (uniform), or recomputed per model chunk (block)
  bool distributed = false;  // tensor-parallel ranks split the stored input of a layer and gather it before use
  bool on_host = false;      // stored inputs are in host memory

  friend bool operator==(const FullRecompute&, const FullRecompute&) = default;
};
// Fused: one kernel that never writes the score matrix (FlashAttention). Unfused: GEMMs, softmax and dropout
// separately, as in frameworks up to 2022. The live bytes per logit of each loss: Megatron's split cross-entropy (fp32
// softmax stored, plus logits or their gradient: 4 + 2 bytes), the same with its passes fused, one kernel that
// overwrites the logits with the gradient (2), PyTorch's log-softmax and loss one after the other in fp32 (4 + 8; over
// a split vocabulary 4 + 12: torch/distributed/tensor/parallel/loss.py adds the exponential to a separate gradient),
// the same compiled (logits and their gradient: 2 + 2), or fused with the output layer chunk by chunk (Liger).
enum class CrossEntropy { kSplit, kSplitFused, kFused, kEager, kCompiled, kChunked };
enum class AttentionKernel { kFused, kUnfused };
// How a microbatch's weight gradients are added to those of the step. Fused: the GEMM adds them in its epilogue.
// Separate: it writes them, and a kernel per weight adds them. Copied: DeepSpeed's BF16_Optimizer (update_hp_grads in
// bf16_optimizer.py) stores those of the microbatch, casts them to fp32, and adds the result.
enum class GradientSum { kFused, kSeparate, kCopied };
// Norms, rotations and activations: one kernel each, or one per PyTorch operator.
enum class Pointwise { kFused, kEager };

// GEMMs of the layers in fp8, scaled as in Transformer Engine: by the maximum of earlier steps or of this tensor, by
// rows of each operand (torchao's float8/config.py, rowwise: cast again for every GEMM, along its reduction dimension),
// by tiles of 128 values (DeepSeek-V3), or by 32 values (MXFP8); or in fp4, by 16 values and the tensor's maximum
// (NVFP4), or by 32 values (MXFP4). Attention core, router, logits and loss keep their type.
enum class NarrowRecipe { kNone, kDelayed, kTensorwise, kRowwise, kBlockwise, kMxfp8, kNvfp4, kMxfp4 };

// LAMB scales each tensor's update by the ratio of its weights' norm to the update's (arXiv 1904.00962); AMSGrad also
// stores the largest second moment (arXiv 1904.09237).
enum class OptimizerKind { kAdam, kAdamW, kLamb, kAmsgrad, kSgd };
[[nodiscard]] std::string_view to_string(OptimizerKind kind);

// Types of an optimizer's state, in the terms of Megatron's precision-aware optimizer.
struct OptimizerTypes {
  OptimizerKind kind = OptimizerKind::kAdam;
  bool momentum = true;               // of SGD: its one moment
  DataType master = DataType::kFp32;  // weights; those of a model in fp32 are their own
  DataType first = DataType::kFp32;   // moments
  DataType second = DataType::kFp32;
  bool precision_aware = false;  // use_precision_aware_optimizer
  bool remainders = false;       // of weights in bf16 only the two bytes that complete them to fp32 are stored

  // Bytes of one parameter.
  [[nodiscard]] double moments() const {
    if (kind == OptimizerKind::kSgd) return momentum ? bytes_per_element(first) : 0.0;
    return bytes_per_element(first) + (kind == OptimizerKind::kAmsgrad ? 2.0 : 1.0) * bytes_per_element(second);
  }
  [[nodiscard]] double state() const { return (remainders ? 2.0 : bytes_per_element(master)) + moments(); }
  [[nodiscard]] double saved_state() const { return bytes_per_element(master) + moments(); }  // in a checkpoint

  friend bool operator==(const OptimizerTypes&, const OptimizerTypes&) = default;
};

// Modules that selective recomputation recomputes, in Megatron's terms.
struct RecomputedModules {
  bool core_attention = true;
  bool norms = false;              // "layernorm": the inputs of the following GEMMs are not stored
  bool latent_projection = false;  // "mla_up_proj": queries, keys and values are not stored, the latent vectors are
  bool expert_activation = false;  // "moe_act"
  bool gated_norm = false;         // "gdn_norm_out": results of norm and gate of a Gated DeltaNet
  bool mlp = false;                // "mlp": a dense layer's MLP with its norm, from the input of the norm
  bool experts = false;            // "moe": all from the norm's result, with the exchanges, to the sum of tokens
  bool shared_experts = false;     // "shared_experts"

  friend bool operator==(const RecomputedModules&, const RecomputedModules&) = default;
};

// Results of a layer that are stored while all others are recomputed.
struct SavedResults {
  bool qkv = false;  // queries, keys and values
  bool core = false;
  bool projection = false;
  bool mlp_up = false;  // both halves of a gated one

  friend bool operator==(const SavedResults&, const SavedResults&) = default;
};

struct TrainingOptions {
  std::int64_t global_batch = 1;  // sequences
  std::int64_t micro_batch = 1;   // sequences
  std::int64_t document = 0;      // mean tokens of the documents packed into a sequence; 0: one that fills it
  std::vector<std::int64_t> lengths;  // of documents, whose mix fills the sequences; empty: all have the mean
  double predicted = 1.0;             // share of tokens whose output is predicted: logits and loss are of these alone
  DataType precision = DataType::kBf16;
  NarrowRecipe narrow = NarrowRecipe::kNone;
  bool narrow_parameters = false;  // the layers' matrices are stored in it alone (Megatron's fp8-param-gather)
  bool drops_transposes = false;   // of such matrices (Megatron's disable_parameter_transpose_cache)
  bool one_layout = false;     // the GPU's fp8 GEMMs read values along either side (takes_either_layout)
  bool narrow_gather = false;  // tensor-parallel ranks cast their part of the sequence and gather the narrow type
  DataType grad_reduce = DataType::kFp32;
  GradientCompression compression;
  LocalSgd local_sgd;
  OptimizerTypes optimizer;
  Recompute recompute = Recompute::kNone;
  RecomputedModules modules;  // of selective recomputation
  FullRecompute full;
  SavedResults saved;
  AttentionKernel attention = AttentionKernel::kFused;
  CrossEntropy cross_entropy = CrossEntropy::kSplit;
  Pointwise pointwise = Pointwise::kFused;
  GradientSum gradient_sum = GradientSum::kFused;
  FusedKernels fused;
  bool separate_projections = false;  // queries, keys and values, and both halves of a gated MLP, as separate weights
  std::int64_t loss_metrics = 0;      // that a trainer computes from the logits in addition to the loss
  bool norm_keeps_output = false;        // for its backward pass, instead of its input (Apex, memory_efficient)
  bool weight_gradient_buffers = false;  // Transformer Engine stores one buffer per weight shape

  // Documents in a sequence of so many tokens.
  [[nodiscard]] std::int64_t documents(std::int64_t sequence) const {
    return document == 0 ? 1 : std::max<std::int64_t>(1, (sequence + document / 2) / document);
  }
  // Of so many tokens, those whose output is predicted.
  [[nodiscard]] std::int64_t predicted_of(std::int64_t tokens) const {
    return std::max<std::int64_t>(1, std::llround(predicted * static_cast<double>(tokens)));
  }
  // In which values of a GEMM's type are stored: the three GEMMs of a linear layer read an operand along either side.
  [[nodiscard]] std::int64_t layouts() const { return one_layout ? 1 : 2; }
  // Of the layers' GEMMs.
  [[nodiscard]] DataType gemm_type() const {
    if (narrow == NarrowRecipe::kNone) return precision;
    const bool fp4 = narrow == NarrowRecipe::kNvfp4 || narrow == NarrowRecipe::kMxfp4;
    return fp4 ? DataType::kFp4 : DataType::kFp8;
  }
  // Transformer Engine casts each weight at the first microbatch of a step and stores the result for the others; with
  // a scale for each row (torchao) weights are cast for every GEMM.
  [[nodiscard]] bool stores_cast_weights() const {
    return narrow != NarrowRecipe::kNone && narrow != NarrowRecipe::kRowwise;
  }
  // One layout is gathered and transposed. Scales of blocks along one side differ between the layouts: both are cast
  // from the working type.
  [[nodiscard]] bool gathers_narrow() const {
    const bool square = narrow == NarrowRecipe::kDelayed || narrow == NarrowRecipe::kTensorwise ||
                        narrow == NarrowRecipe::kBlockwise;
    return narrow_parameters && square;
  }
  // Stored matrices have one layout, and each backward pass transposes them.
  [[nodiscard]] bool transposes_in_each_pass() const { return drops_transposes && gathers_narrow() && !one_layout; }
  [[nodiscard]] std::int64_t weight_layouts() const { return transposes_in_each_pass() ? 1 : layouts(); }
  [[nodiscard]] bool recomputes(bool RecomputedModules::*module) const {
    return recompute == Recompute::kSelective && modules.*module;
  }
  // One by one.
  [[nodiscard]] bool recomputes_operators() const {
    return recompute == Recompute::kOperators || recompute == Recompute::kExceptSaved;
  }

  friend bool operator==(const TrainingOptions&, const TrainingOptions&) = default;
};

// Even: equal chunks, where embedding and logits may count as a layer of the first and the last chunk. Filled: each
// chunk like the fullest, and the last one gets the remainder (partition_balanced of DeepSpeed's runtime/utils.py over
// layers of equal weight). Balanced: by the modelled time, or by the stages' memory. Ends: first and last stage as
// given, the others equal.
enum class StageLayers { kEven, kFilled, kListed, kBalanced, kBalancedMemory, kEnds };

// The ranks of a pipeline stage, where stages have different ones (Alpa's submeshes).
struct StageMesh {
  int tp = 1;
  int dp = 1;
  std::int64_t layers = 0;

  [[nodiscard]] int ranks() const { return tp * dp; }
  friend bool operator==(const StageMesh&, const StageMesh&) = default;
};

// The microbatches of the data-parallel replicas. Even: as many for each. Listed: as given. Balanced: so that replicas
// on GPUs of different speed end together.
enum class MicrobatchSplit { kEven, kListed, kBalanced };

// How context-parallel ranks obtain all keys and values; Megatron's cp_comm_type. Ring: blocks travel around a ring
// during computation. All-gather: every rank gathers all of them first (Llama 3). All-to-all: heads are exchanged for
// tokens (Ulysses); hierarchical: that among neighbours, a ring across them.
enum class ContextExchange { kRing, kAllGather, kAllToAll, kHierarchical, kGatheredBlocks };

struct ParallelOptions {
  int tp = 1;
  int pp = 1;
  int cp = 1;
  int dp = 1;
  std::vector<StageMesh> meshes;  // by stage; empty: every stage is tp x cp x dp. Else tp and dp are those of the
                                  // stage with the most (workload/layout/stage_meshes.h)
  int workers = 1;  // groups of replicas that train on their own (training.local_sgd)
  ContextExchange context_exchange = ContextExchange::kRing;
  int ulysses = 1;               // ranks among which heads are exchanged for tokens
  bool context_balanced = true;  // zig-zag: each rank has a chunk from the front and its counterpart from the back
  ExpertOptions experts;
  std::string schedule = "1f1b";
  Placement placement = Placement::kLooped;
  int virtual_stages = 1;    // model chunks per pipeline stage
  int microbatch_group = 0;  // interleaving: microbatches that pass a chunk before the next one; 0: pp
  WeightVersions versions = WeightVersions::kOne;
  bool recompute_ahead = false;  // of its gradient's arrival; the last stage then recomputes nothing
  bool post_validation = false;  // the optimizer does not wait for the gradient's norm over all stages
  StageLayers stage_layers = StageLayers::kEven;
  bool embedding_counts = false;  // as a layer of the first chunk
  bool loss_counts = false;       // as a layer of the last chunk
  EndLayers end_layers;
  std::vector<std::int64_t> layers_per_part;  // by model chunk, in model order
  MicrobatchSplit microbatch_split = MicrobatchSplit::kEven;
  std::vector<std::int64_t> replica_microbatches;  // by data-parallel replica; empty: as many for each
  std::optional<ListedSchedule> listed;       // instead of `schedule`
  bool sequence_parallel = false;
  bool scatter_gather_p2p = false;  // without sequence parallelism: send 1/tp of an activation, gather it on arrival
  bool scatter_gather_gradients = false;  // and of its gradient
  bool async_reduce = true;              // of a column-parallel layer's input gradient, concurrently with its wgrad
                                         // GEMM
  bool keep_gathered = false;            // inputs of column-parallel layers stay whole until their weight gradient
  TensorOverlap tensor_overlap;
  bool overlap_p2p = false;  // a send does not block the next computation
  int zero_stage = 0;
  int optimizer_instances = 1;  // of stage 1: groups of replicas, each with a whole optimizer state
  bool overlap_grad_reduce = false;
  bool overlap_param_gather = false;
  GradientReduction gradient_reduction = GradientReduction::kLastMicrobatch;  // below ZeRO stage 3
  bool allreduce_buckets = false;  // DeepSpeed: every rank gets all sums of a bucket and stores those of its partition
  bool flat_gradients = false;     // DeepSpeed: reduced in a buffer, updated from one tensor
  std::int64_t flat_bucket = 0;  // elements of that buffer
  Bytes bucket;              // gradient bytes of one bucket; 0: Megatron's default
  bool buckets_on_all_stages = false;  // not only on the first one, as Megatron's
  LayerFusionOptions layer_fusion;  // buckets that end their exchange earliest, instead
  ShardingOptions sharding;  // zero_stage is then 3
  OffloadOptions offload;

  // Ranks that hold copies of the same dense parameters, and of the same experts.
  [[nodiscard]] int replicas() const { return dp / workers * cp; }
  // Of them, those that share the state of stage 1.
  [[nodiscard]] int state_sharers() const { return replicas() / optimizer_instances; }
  [[nodiscard]] int expert_replicas() const { return tp * cp * dp / (experts.etp * experts.ep); }
  // Sharded parameters: experts have other copies than the rest, with separate shards among those (DeepSpeed-MoE).
  [[nodiscard]] bool shards_experts_apart() const { return sharding.parameters && sharding.experts_apart; }
  [[nodiscard]] int ring() const { return cp / ulysses; }
  [[nodiscard]] PipelineShape pipeline() const {
    return {.placement = placement, .stages = pp, .chunks = virtual_stages};
  }
  [[nodiscard]] int parts() const { return pipeline().parts(); }
  // Every training step begins and ends with an empty pipeline.
  [[nodiscard]] bool flushes() const { return versions == WeightVersions::kOne; }
  // Of the replica with the most.
  [[nodiscard]] std::int64_t microbatches(const TrainingOptions& training) const {
    if (!replica_microbatches.empty()) return *std::ranges::max_element(replica_microbatches);
    return training.global_batch / (training.micro_batch * dp);
  }

  friend bool operator==(const ParallelOptions&, const ParallelOptions&) = default;
};

// The number of ranks of the cluster, and where it is set: "cluster.nodes = 4 x 8 GPUs (scenario.yaml:20)".
struct World {
  std::int64_t ranks = 1;
  std::string described;
  int host_ranks = 8;  // GPUs of a host
  int sms = 132;       // multiprocessors of a GPU; of several kinds the fewest
};

// Whose loss is the default: Megatron's, or PyTorch's own, which trains models with FSDP.
enum class Framework { kMegatron, kPyTorch };
[[nodiscard]] TrainingOptions read_training_options(ConfigMap& training, Framework framework = Framework::kMegatron);
// The word of the configuration.
[[nodiscard]] std::string_view to_string(CrossEntropy kind);
// An error if the GPU does not support the type.
void check_precision(ConfigMap& training, const TrainingOptions& options, const GpuSpec& gpu);
// Derives dp, and checks the layout against the model, the batch and the cluster. Mistakes are recorded in the maps;
// the result must then be discarded.
struct KnownLayouts;
struct ParallelContext {
  const ModelShape& shape;
  const TrainingOptions& training;
  const ConfigMap& model_map;  // for the locations of conflicting numbers
  ConfigMap& training_map;
  const World& world;
  const ListedSchedule* listed = nullptr;  // the content of parallel.schedule_file
  ConfigMap* plan = nullptr;               // the content of parallel.plan_file
  KnownLayouts* known = nullptr;           // of layouts that were read before
};
[[nodiscard]] ParallelOptions read_parallel_options(ConfigMap& parallel, const ParallelContext& context);

}  // namespace ringwright::workload
