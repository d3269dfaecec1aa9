// Sources: github.com/NVIDIA/NeMo 1.13 to 1.23, examples/nlp/language_modeling/conf/megatron_gpt_config.yaml and
// megatron_llama_config.yaml, nemo/collections/nlp/models/language_modeling/megatron_base_model.py and
// megatron_gpt_model.py; the configurations of NeMo-Framework-Launcher; and those of MLPerf's submissions, which have
// optim, ddp and keys of Megatron-Core as well.
#include "configs/scenario/imports/hydra/nemo_keys.h"

#include <array>

#include "configs/scenario/imports/hydra/bridge_keys.h"

namespace ringwright::configs {
namespace {

using enum KeyMeaning;

constexpr std::string_view kNemoSharding = "set parallel.fsdp or parallel.zero.stage in the scenario instead";
constexpr std::string_view kNemoLaunches = "kernels are launched one by one; see compute.cuda_graphs";
constexpr std::string_view kNemoFinish = "parameters are gathered after the update";

constexpr std::array kNemoModelRows{
    // Its shape.
    KeyRow{"encoder_seq_length", kValue, "seq-length"},
    KeyRow{"num_layers"},
    KeyRow{"hidden_size"},
    KeyRow{"ffn_hidden_size", kTogether, "ffn-hidden-size"},
    KeyRow{"num_attention_heads"},
    KeyRow{"num_query_groups", kTogether, "num-query-groups"},
    KeyRow{"kv_channels", kTogether, "kv-channels"},
    KeyRow{"max_position_embeddings", kTogether, "max-position-embeddings"},
    KeyRow{"position_embedding_type", kTogether, "position-embedding-type"},
    KeyRow{"normalization", kTogether, "normalization"},
    KeyRow{"activation", kTogether, "swiglu"},
    KeyRow{"bias", kUnless, "disable-bias-linear"},
    KeyRow{"share_embeddings_and_output_weights", kUnless, "untie-embeddings-and-output-weights"},
    KeyRow{"hidden_dropout"},
    KeyRow{"attention_dropout"},
    KeyRow{"make_vocab_size_divisible_by"},
    KeyRow{"qk_layernorm", kSwitch},
    KeyRow{"add_qkv_bias", kSwitch},
    KeyRow{"window_size", kTogether, "window-size"},
    KeyRow{"num_moe_experts", kValue, "num-experts"},
    KeyRow{"moe_router_topk"},
    KeyRow{"moe_ffn_hidden_size"},
    KeyRow{"moe_grouped_gemm", kSwitch},
    KeyRow{"moe_token_dispatcher_type"},
    KeyRow{"moe_expert_capacity_factor"},
    KeyRow{"moe_pad_expert_input_to_capacity", kSwitch},
    KeyRow{"moe_router_load_balancing_type"},
    KeyRow{"ffn_dropout", kUnmodelled, "the MLP has no dropout between its GEMMs", "0.0"},
    KeyRow{"transformer_block_type", kUnmodelled, "layers have their norms in front", "pre_ln"},
    KeyRow{"headscale", kUnmodelled, "the output of heads is not scaled"},
    KeyRow{"attention_type", kUnmodelled, "attention is multi-head", "multihead"},
    KeyRow{"rampup_batch_size", kUnmodelled, "the batch is model.global_batch_size from the first step"},
    // How it is computed.
    KeyRow{"micro_batch_size"},
    KeyRow{"global_batch_size"},
    KeyRow{"megatron_amp_O2", kTogether, "bf16"},
    KeyRow{"megatron_amp_o2", kTogether, "bf16"},
    KeyRow{"precision", kTogether, "bf16"},
    KeyRow{"transformer_engine", kTogether, "transformer-impl"},
    KeyRow{"mcore_gpt", kTogether, "transformer-impl"},
    KeyRow{"fp8", kTogether, "fp8-format"},
    KeyRow{"fp8_e4m3", kTogether, "fp8-format"},
    KeyRow{"fp8_hybrid", kTogether, "fp8-format"},
    KeyRow{"fp8_recipe", kTogether, "fp8-recipe"},
    KeyRow{"fp8_params", kTogether, "fp8-param-gather"},
    KeyRow{"fp8_param", kTogether, "fp8-param-gather"},
    KeyRow{"fp8_param_gather", kTogether, "fp8-param-gather"},
    KeyRow{"fp8_dot_product_attention", kTogether, "fp8-dot-product-attention"},
    KeyRow{"fp8_multi_head_attention", kTogether, "fp8-multi-head-attention"},
    KeyRow{"fp8_activation_input_store", kSwitch, "activation-func-fp8-input-store"},
    KeyRow{"fp4", kTogether, "fp4-format"},
    KeyRow{"fp4_recipe", kTogether, "fp4-recipe"},
    KeyRow{"first_last_layers_bf16", kTogether, "first-last-layers-bf16"},
    KeyRow{"gradient_accumulation_fusion", kTogether, "no-gradient-accumulation-fusion"},
    KeyRow{"activations_checkpoint_granularity", kTogether, "recompute-granularity"},
    KeyRow{"activations_checkpoint_method", kTogether, "recompute-method"},
    KeyRow{"activations_checkpoint_num_layers", kTogether, "recompute-num-layers"},
    KeyRow{"activations_checkpoint_recompute", kTogether, "recompute-modules"},
    KeyRow{"num_micro_batches_with_partial_activation_checkpoints", kUnmodelled,
           "all microbatches recompute the same layers"},
    KeyRow{"activations_checkpoint_layers_per_pipeline", kUnmodelled, "all stages recompute the same layers"},
    KeyRow{"use_flash_attention", kTogether, "attention-backend"},
    KeyRow{"sync_batch_comm", kUnmodelled, "no stream waits after a message between stages"},
    KeyRow{"deterministic_mode", kUnmodelled, "kernels are the fastest ones"},
    KeyRow{"external_cuda_graph", kUnmodelled, kNemoLaunches},
    KeyRow{"enable_cuda_graph", kUnmodelled, kNemoLaunches},
    KeyRow{"fp32_residual_connection", kUnmodelled, "residual connections have the type of activations"},
    KeyRow{"fp16_lm_cross_entropy", kUnmodelled, "the loss is computed in fp32"},
    KeyRow{"bias_activation_fusion", kUnless, "no-bias-swiglu-fusion"},
    KeyRow{"bias_dropout_add_fusion", kUnless, "no-bias-dropout-fusion"},
    KeyRow{"apply_rope_fusion", kUnless, "no-rope-fusion"},
    KeyRow{"masked_softmax_fusion", kUnless, "no-masked-softmax-fusion"},
    KeyRow{"dropout_recompute", kUnmodelled, "dropout masks are stored"},
    KeyRow{"healing_iter", kUnmodelled, "all steps have the type of model.fp4 or model.fp8", "0"},
    // The layout.
    KeyRow{"tensor_model_parallel_size"},
    KeyRow{"pipeline_model_parallel_size"},
    KeyRow{"virtual_pipeline_model_parallel_size", kTogether, "virtual-pipeline-model-parallel-size"},
    KeyRow{"context_parallel_size"},
    KeyRow{"expert_model_parallel_size"},
    KeyRow{"sequence_parallel", kSwitch},
    KeyRow{"ub_tp_comm_overlap", kTogether, "tp-comm-overlap"},
    KeyRow{"ub_tp_comm_overlap_cfg", kTogether, "tp-comm-overlap-cfg"},
    KeyRow{"tp_comm_overlap_ag", kTogether, "tp-comm-overlap-ag"},
    KeyRow{"tp_comm_overlap_rs", kTogether, "tp-comm-overlap-rs"},
    KeyRow{"tp_comm_overlap_rs_dgrad", kTogether, "tp-comm-overlap-rs-dgrad"},
    KeyRow{"tp_comm_disable_qkv", kTogether, "tp-comm-overlap"},
    KeyRow{"tp_comm_disable_fc1", kTogether, "tp-comm-overlap"},
    KeyRow{"overlap_p2p_comm", kTogether, "overlap-p2p-communication"},
    KeyRow{"defer_embedding_wgrad_compute", kUnmodelled, "the gradient of the logits' weights is not deferred"},
    KeyRow{"use_tp_pp_dp_mapping", kUnmodelled, "ranks are laid out as tp-cp-ep-dp-pp"},
    KeyRow{"nccl_communicator_config_path", kUnmodelled, "channels are set in collectives.nccl"},
    KeyRow{"sharp", kUnmodelled, "name an in-switch algorithm in collectives instead"},
    KeyRow{"use_sharp", kUnmodelled, "name an in-switch algorithm in collectives instead"},
    KeyRow{"fsdp", kUnmodelled, kNemoSharding},
    KeyRow{"async_grad_allreduce", kTogether, "overlap-grad-reduce"},
    KeyRow{"peft", kUnmodelled, "all weights are trained"},
    KeyRow{"base_config", kUnmodelled, "name the model of that size in the scenario: model: {preset: ...}"},
    KeyRow{"overwritten_attributes", kTogether, "num-layers"},
    KeyRow{"data", kTogether, "seq-length"},
    KeyRow{"optim", kTogether, "use-distributed-optimizer"},
    KeyRow{"tokenizer", kTogether, "tokenizer-type"},
    KeyRow{"override_vocab_size", kValue, "vocab-size"},
    KeyRow{"vocab_size"},
};

// clang-format off
constexpr auto kNemoIdleModel = std::to_array<std::string_view>({
    "apex_transformer_log_level", "apply_query_key_layer_scaling", "answer_only_loss", "batch_p2p_comm",
    "cuda_graph_scope", "custom", "defer_wgrad", "delay_data_init", "dist_ckpt_format", "dist_ckpt_parallel_load",
    "dist_ckpt_load_on_device", "dist_ckpt_parallel_save", "do_layer_norm_weight_decay", "enable_cg_fp8_weight_caching",
    "eval_cp", "fp8_amax_compute_algo", "fp8_amax_history_len", "fp8_interval", "fp8_margin", "fp8_wgrad",
    "fsdp_grad_reduce_dtype", "fsdp_sharded_checkpoint", "fsdp_sharding_strategy", "gc_interval", "gc_interval_train",
    "gc_interval_valid", "get_attention_mask_from_fusion", "grad_allreduce_chunk_size_mb", "grad_div_ar_fusion",
    "gradient_as_bucket_view", "healing_precision", "hidden_act", "hysteresis", "init_method_std", "layernorm_epsilon",
    "layernorm_zero_centered_gamma", "megatron_legacy", "memory_profile", "moe_aux_loss_coeff",
    "moe_z_loss_coeff", "mcore_customization_config", "name",
    "native_amp_growth_interval", "native_amp_init_scale", "normalize_attention_scores", "nsys_profile",
    "num_layers_at_end_in_bf16", "num_layers_at_start_in_bf16", "onnx_safe", "openai_gelu", "perform_initialization",
    "persist_layer_norm", "post_process", "pre_process", "pre_quantized_model", "reduce_amax", "reset_cg_after_healing",
    "restore_from_path", "resume_from_checkpoint", "rotary_base", "rotary_interleaved", "rotary_percentage",
    "save_nemo_on_validation_end", "scale_positional_embedding", "seed", "seq_len_interpolation_factor", "shape_file",
    "store_gpu", "target", "tp_only_amax_red", "use_cpu_initialization", "use_emha", "use_scaled_init_method",
    "use_te_rng_tracker", "val_global_batch_size", "val_micro_batch_size", "vocab_file", "wgrad_deferral_limit"});
// clang-format on

constexpr std::array kNemoTrainerRows{
    KeyRow{"num_nodes", kTogether, "nnodes"},
    KeyRow{"devices", kTogether, "nproc-per-node"},
    KeyRow{"precision", kTogether, "bf16"},
    KeyRow{"accumulate_grad_batches", kUnmodelled, "model.global_batch_size gives the microbatches", "1"},
};

constexpr std::array kNemoOptimRows{
    KeyRow{"name", kTogether, "use-distributed-optimizer"},
    KeyRow{"use_distributed_optimizer", kTogether, "use-distributed-optimizer"},
    KeyRow{"overlap_grad_sync", kTogether, "overlap-grad-reduce"},
    KeyRow{"overlap_param_sync", kTogether, "overlap-param-gather"},
    KeyRow{"overlap_grad_reduce", kTogether, "overlap-grad-reduce"},
    KeyRow{"overlap_param_gather", kTogether, "overlap-param-gather"},
    KeyRow{"grad_sync_dtype", kTogether, "grad-reduce-in-bf16"},
    KeyRow{"bucket_cap_mb", kTogether, "ddp-bucket-size"},
    KeyRow{"ddp_bucket_size", kTogether, "ddp-bucket-size"},
    KeyRow{"bucket_size", kUnmodelled, "buckets have the size of Megatron-Core's default"},
    KeyRow{"dtype", kUnmodelled, "moments and main parameters are in fp32", "fp32"},
    KeyRow{"fp8_params", kTogether, "fp8-param-gather"},
    KeyRow{"overlap_param_gather_with_optim_step", kUnmodelled, kNemoFinish},
    KeyRow{"overlap_param_gather_with_optimizer_step", kUnmodelled, kNemoFinish},
};

// clang-format off
constexpr auto kNemoIdleOptim = std::to_array<std::string_view>({
    "align_param_gather", "amsgrad", "average_in_collective", "betas", "capturable", "check_for_nan_in_grad",
    "contiguous_grad_buffer", "contiguous_param_buffer", "eps", "lock_timeout", "lr", "master_weights", "min_lr",
    "momentum_warmup", "pipeline_size", "sched", "weight_decay"});
// clang-format on

constexpr std::array kNemoDdpRows{
    KeyRow{"overlap_grad_reduce", kTogether, "overlap-grad-reduce"},
    KeyRow{"overlap_param_gather", kTogether, "overlap-param-gather"},
    KeyRow{"fp8_param_gather", kTogether, "fp8-param-gather"},
    KeyRow{"nccl_ub", kUnmodelled, "collectives copy through NCCL's buffers"},
    KeyRow{"average_in_collective", kIdle},
};

constexpr std::array kNemoDataRows{KeyRow{"seq_length", kTogether, "seq-length"}};
constexpr std::array kNemoTokenizerRows{KeyRow{"type", kTogether, "tokenizer-type"}};

constexpr std::array kNemoSections{
    KeySection{.name = "model", .rows = kNemoModelRows, .idle = kNemoIdleModel},
    KeySection{.name = "trainer", .rows = kNemoTrainerRows, .all_idle = true},
    KeySection{.name = "optim", .rows = kNemoOptimRows, .idle = kNemoIdleOptim},
    KeySection{.name = "ddp", .rows = kNemoDdpRows},
    KeySection{.name = "data", .rows = kNemoDataRows, .all_idle = true},
    KeySection{.name = "tokenizer", .rows = kNemoTokenizerRows, .all_idle = true},
    KeySection{.name = "dataloader", .all_idle = true},
    KeySection{.name = "exp_manager", .all_idle = true},
    KeySection{.name = "hydra", .all_idle = true},
    KeySection{.name = "run", .all_idle = true},
    KeySection{.name = "custom", .all_idle = true},
    KeySection{.name = "misc", .all_idle = true},
};

}  // namespace

std::span<const KeySection> nemo_sections() {
  static const auto kAll = [] {
    auto sections = kNemoSections;
    sections[0].base = &bridge_sections()[0];  // keys of Megatron-Core
    return sections;
  }();
  return kAll;
}

}  // namespace ringwright::configs
