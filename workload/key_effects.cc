#include "workload/key_effects.h"

#include <array>

namespace ringwright::workload {
namespace {

constexpr std::string_view kOnlyCalibrated = "only 'compute.model: calibrated' uses it";
constexpr std::string_view kFsdp = "parallel.fsdp sets how the model's state is sharded";
constexpr std::string_view kOneReplica = "there is one data-parallel rank: no gradients are exchanged";
constexpr std::string_view kOneStage = "there is one pipeline stage";
constexpr std::string_view kOneTensorRank = "tp is 1";
constexpr std::string_view kPipelined =
    "reading and writing drives overlap with the update only where both pipeline_read and pipeline_write are on";
constexpr std::string_view kNoExperts = "the model has no experts";
constexpr std::string_view kOneExpertRank = "ep is 1: tokens stay on their rank";
constexpr std::string_view kOnGpu = "the optimizer is on the GPU";

constexpr KeyEffect of_experts(std::string_view keys) { return {keys, "model.num_experts>0", kNoExperts}; }
// With etp, ranks that share an expert send each other tokens as well.
constexpr KeyEffect of_dispatch(std::string_view keys) {
  return {keys, "parallel.ep>1 | parallel.etp>1", kOneExpertRank};
}

// Copies of tables on every rank have dense gradients; one rank has all tables.
constexpr std::string_view kCopied = "every rank has a copy of all tables";
constexpr std::string_view kNoHostTables =
    "no tables are placed on hosts: table_row_wise and HugeCTR's auto do that, HugeCTR only on several hosts";
constexpr std::string_view kNoRowsSent = "pooled rows stay on their rank";

// Keys of ZeRO's exchanges, for which FSDP has its own keys.
constexpr KeyEffect of_replicas(std::string_view keys) { return {keys, "job.replicas>1", kOneReplica}; }
constexpr KeyEffect not_of_fsdp(std::string_view keys) { return {keys, "job.fsdp=no", kFsdp}; }

constexpr std::array kWorkloadEffects = {
    KeyEffect{"cluster.node.gpu.peak.tf32", "cluster.node.gpu.peak.fp32=0",
              "GEMMs in fp32 run at peak.fp32; tf32 replaces it only if it is not given"},
    KeyEffect{"cluster.node.gpu.l2", "compute.model=calibrated", kOnlyCalibrated},
    KeyEffect{"cluster.node.gpu.kernels", "compute.model=calibrated", kOnlyCalibrated},
    KeyEffect{"cluster.node.gpu.kernels.name", "",
              "a label: a table with one makes 'compute.model: calibrated' the default"},
    KeyEffect{"cluster.node.gpu.kernels.host", "", "kernels are issued at compute.host_issue"},
    KeyEffect{"cluster.node.gpu.host_issue", "compute.model=calibrated", kOnlyCalibrated},
    KeyEffect{"cluster.node.gpu.kernel_launch", "compute.model=roofline",
              "'compute.model: calibrated' has the start of each family of kernels in cluster.node.gpu.kernels"},
    KeyEffect{"model.attention_dropout", "training.attention=unfused",
              "fused attention redraws its dropout mask in the backward pass: it costs neither time nor memory"},
    KeyEffect{"model.qk_layernorm", "model.multi_latent_attention!=true",
              "latent attention always has norms of its latent vectors, and none of each head's query and key"},
    KeyEffect{"compute.flash_attention", "training.attention=fused", "attention is not fused"},
    KeyEffect{"cluster.node.gpu.kernels.flash_attention[]", "compute.flash_attention!=auto",
              "'compute.flash_attention: auto' takes the fastest kernels"},
    KeyEffect{"parallel.overlap_p2p_comm", "parallel.pp>1", kOneStage},
    KeyEffect{"parallel.stage_layers", "parallel.pp>1", kOneStage},
    KeyEffect{"parallel.optimizer_post_validation", "parallel.pp>1", kOneStage},
    KeyEffect{"parallel.async_tensor_model_parallel_allreduce", "parallel.tp>1", kOneTensorRank},
    KeyEffect{"parallel.tp_comm_overlap_ag", "parallel.tp>1", kOneTensorRank},
    KeyEffect{"parallel.tp_comm_overlap_rs", "parallel.tp>1", kOneTensorRank},
    KeyEffect{"parallel.tp_comm_overlap_rs_dgrad", "parallel.tp>1", kOneTensorRank},
    KeyEffect{"parallel.tp_comm_overlap_method", "parallel.tp>1", kOneTensorRank},
    KeyEffect{"parallel.tp_comm_overlap_tiles", "parallel.tp>1", kOneTensorRank},
    KeyEffect{"parallel.tp_comm_overlap_num_splits", "parallel.tp>1", kOneTensorRank},
    KeyEffect{"parallel.tp_comm_overlap_user_buffers", "parallel.tp>1", kOneTensorRank},
    KeyEffect{"training.fused_residual_rmsnorm", "model.normalization=rmsnorm", "the model has no RMSNorm"},
    KeyEffect{"training.fused_residual_rmsnorm", "model.num_experts>0 | model.multi_latent_attention=true",
              "norms are part of the linear layers that follow them"},
    KeyEffect{"training.fused_residual_rmsnorm", "training.pointwise=fused", "PyTorch's operators are not fused"},
    KeyEffect{"training.apply_rope_fusion", "model.position_embedding=rotary | model.position_embedding=yarn",
              "the model has no rotary position embedding"},
    KeyEffect{"training.apply_rope_fusion", "model.position_embedding=rotary | model.multi_latent_attention=true",
              "YaRN is run by PyTorch's operators"},
    of_experts("training.moe_permute_fusion"),
    of_experts("training.moe_router_fusion"),
    of_experts("training.moe_grouped_gemm"),
    KeyEffect{"training.use_transformer_engine_op_fuser",
              "model.num_experts>0 | training.fp8_recipe=delayed | training.fp8_recipe=mxfp8",
              "the activation of a dense MLP writes fp8 only with delayed scaling and MXFP8"},
    KeyEffect{"training.fp8_multi_head_attention", "training.fp8_dot_product_attention=true",
              "attention is not computed in fp8"},
    KeyEffect{"training.fp8_multi_head_attention", "training.fp8_recipe=delayed | training.fp8_recipe=tensorwise",
              "linear layers and attention share fp8 values only with one scale per tensor"},
    KeyEffect{"training.fp8_multi_head_attention", "training.attention=fused", "attention is not fused"},
    KeyEffect{"training.fp8_multi_head_attention", "parallel.cp=1",
              "context-parallel ranks exchange tensors of attention that are cast before"},
    KeyEffect{"training.fp8_multi_head_attention",
              "model.multi_latent_attention!=true & model.attention_output_gate!=true",
              "attention's inputs or its result pass other kernels in the working type"},
    KeyEffect{"training.gemm_gelu_fusion", "model.activation=gelu", "the model's activation is not GELU"},
    KeyEffect{"training.gemm_gelu_fusion",
              "model.num_experts=0 | model.first_k_dense_replace>0 | model.moe_layer_freq>1",
              "no layer has a dense MLP"},
    KeyEffect{"training.gemm_bias_gradient_fusion", "model.bias!=none", "the model has no biases"},
    KeyEffect{"training.disable_parameter_transpose_cache", "job.transposes=yes",
              "no transposes of weights are stored: parameters are sharded, or the GPU's fp8 GEMMs read either layout"},
    KeyEffect{"training.moe_permute_fusion",
              "parallel.moe_token_dispatcher_type!=flex | parallel.moe_flex_dispatcher_backend=hybridep | "
              "parallel.ep=1",
              "DeepEP's kernels bring tokens into the order of experts, whatever it says"},
    KeyEffect{"parallel.moe_shared_expert_overlap", "model.moe_shared_expert_intermediate_size>0",
              "the model has no shared experts"},
    of_dispatch("parallel.moe_token_dispatcher_type"),
    of_dispatch("parallel.moe_fp8_dispatch"),
    KeyEffect{"parallel.moe_router_load", "parallel.ep>1", kOneExpertRank},
    KeyEffect{"compute.host_read", "model.num_experts>0 | recommendation.global_batch>0",
              "the host reads sizes of exchanges of tokens and of embeddings, and this job has none"},
    KeyEffect{"compute.host_read", "compute.cuda_graphs!=true", "CUDA graphs have fixed sizes"},
    KeyEffect{"compute.host_read", "parallel.moe_paged_stash!=true", "buffers have a fixed size (moe_paged_stash)"},
    KeyEffect{"recommendation.zipf", "tables.copied!=all", "copies of tables on every rank have dense gradients"},
    KeyEffect{"recommendation.cache", "tables.copied!=all", kCopied},
    KeyEffect{"recommendation.cache", "tables.cached=yes", "the cache holds all rows"},
    KeyEffect{"recommendation.prefetch_indices", "tables.exchanged=yes", "no indices pass between ranks"},
    KeyEffect{
        .keys = "recommendation.comm_precision", .needs = "tables.exchanged=yes", .why = kNoRowsSent, .partly = true},
    KeyEffect{.keys = "recommendation.embedding_precision",
              .needs = "tables.copied=none",
              .why = "weights, gradients and state of tables that every rank has a copy of are fp32",
              .partly = true},
    KeyEffect{"recommendation.ddp_bucket", "job.ranks>1", kOneReplica},
    KeyEffect{"recommendation.ddp_bucket", "recommendation.forward_only!=true",
              "a step of evaluation has no gradients"},
    KeyEffect{"recommendation.fixed_bags", "tables.copied!=all", kCopied},
    KeyEffect{"recommendation.fixed_bags", "tables.bags=yes", "a sample looks up one row of each table (pooling)"},
    KeyEffect{"recommendation.replicate_below", "tables.auto=yes",
              "only tables with sharding auto, on several ranks, are replicated by their size"},
    KeyEffect{"collectives.mp_intra", "tables.on_hosts=yes", kNoHostTables},
    KeyEffect{"collectives.mp_cross", "tables.on_hosts=yes", kNoHostTables},
    KeyEffect{"recommendation.ddp_bucket", "recommendation.framework!=hugectr",
              "HugeCTR reduces all dense gradients in one call"},
    KeyEffect{"recommendation.prefetch_indices", "recommendation.framework!=hugectr",
              "HugeCTR exchanges the next batch's indices in any case"},
    KeyEffect{"compute.host_read", "recommendation.framework!=hugectr", "HugeCTR's host reads no sizes of exchanges"},
    KeyEffect{"compute.host_read",
              "parallel.moe_pad_expert_input_to_capacity!=true | parallel.moe_expert_capacity_factor=0",
              "experts are padded to their capacity"},
    not_of_fsdp("parallel.zero.overlap_grad_reduce"),
    not_of_fsdp("parallel.zero.overlap_comm"),
    not_of_fsdp("parallel.zero.overlap_param_gather"),
    not_of_fsdp("parallel.zero.bucket"),
    not_of_fsdp("parallel.zero.reduce_bucket_size"),
    not_of_fsdp("parallel.zero.layer_fusion"),
    not_of_fsdp("parallel.zero.flat_gradients"),
    of_replicas("parallel.zero.overlap_grad_reduce"),
    of_replicas("parallel.zero.overlap_comm"),
    of_replicas("parallel.zero.overlap_param_gather"),
    of_replicas("parallel.zero.bucket"),
    of_replicas("parallel.zero.reduce_bucket_size"),
    of_replicas("parallel.zero.layer_fusion"),
    of_replicas("training.compression.codec"),
    of_replicas("training.compression.ratio"),
    of_replicas("training.compression.rank"),
    of_replicas("training.compression.block"),
    of_replicas("training.compression.error_feedback"),
    KeyEffect{"parallel.zero.offload_optimizer.nvme_path", "", "cluster.node.storage sets the drives of a host"},
    KeyEffect{"parallel.zero.offload_param.nvme_path", "", "cluster.node.storage sets the drives of a host"},
    KeyEffect{"parallel.zero.offload_optimizer.fast_init", "", "what happens before the first step is not simulated"},
    KeyEffect{"parallel.zero.offload_optimizer.pipeline_read",
              "parallel.zero.offload_optimizer.pipeline_write=true & parallel.zero.offload_optimizer.device=nvme",
              kPipelined},
    KeyEffect{"parallel.zero.offload_optimizer.pipeline_write",
              "parallel.zero.offload_optimizer.pipeline_read=true & parallel.zero.offload_optimizer.device=nvme",
              kPipelined},
    KeyEffect{"parallel.zero.offload_optimizer.ratio", "job.optimizer=off the GPU", kOnGpu},
    KeyEffect{"parallel.zero.sub_group_size", "job.optimizer=off the GPU", kOnGpu},
    KeyEffect{"parallel.zero.cpu_adam_efficiency", "job.optimizer=off the GPU", kOnGpu},
};

}  // namespace

std::span<const KeyEffect> workload_key_effects() { return kWorkloadEffects; }

}  // namespace ringwright::workload
