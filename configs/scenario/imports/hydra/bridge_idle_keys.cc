// Keys of Megatron-Bridge on which neither time nor memory of a training step depends: initialisation, inference,
// scales of numbers, and parts of fusions that are modelled as a whole. Sources: as in bridge_keys.cc.
#include <array>

#include "configs/scenario/imports/hydra/bridge_keys.h"

namespace ringwright::configs {
namespace {

// clang-format off
constexpr auto kIdleModel = std::to_array<std::string_view>({
    "apply_query_key_layer_scaling", "async_tensor_model_parallel_allreduce",
    "attention_softmax_in_fp32", "autocast_dtype", "barrier_with_L1_time", "batch_p2p_comm", "batch_p2p_sync",
    "beta_fast", "beta_slow", "bias_dropout_add_fusion",
    "cache_mla_latents", "calculate_per_token_loss", "clone_scatter_output_in_embedding", "config_logger_dir",
    "cpu_offloading_activations", "cpu_offloading_retain_pinned_cpu_buffers",
    "cuda_graph_retain_backward_graph", "cuda_graph_scope", "cuda_graph_use_single_mempool",
    "cuda_graph_warmup_steps", "deallocate_pipeline_outputs", "dsa_indexer_use_sparse_loss", "embedding_init_method",
    "embedding_init_method_std", "enable_autocast", "ep_overlap_early_attn_memory_release",
    "finalize_model_grads_func", "flash_decode", "fp4_quantizer_factory",
    "fp8_amax_compute_algo", "fp8_amax_history_len", "fp8_interval", "fp8_margin", "fp8_quantizer_factory",
    "fp8_wgrad", "generation_config", "glu_linear_offset", "grad_scale_func",
    "grad_sync_func", "hetereogenous_dist_checkpoint", "hf_model_id", "hybrid_stack_spec",
    "inference_disable_triton_nvls_kernels", "inference_fuse_tp_communication", "inference_grouped_gemm_backend",
    "inference_moe_disable_fused_quant_kernels", "inference_rng_tracker", "inference_sampling_seed", "init_method",
    "init_method_std", "init_model_with_meta_device", "is_hybrid_model", "kitchen_attention_backend",
    "layernorm_epsilon", "layernorm_zero_centered_gamma", "log_max_attention_logit", "mamba_mixer_chunk_size",
    "mamba_stack_spec", "max_seqlen_per_dp_cp_rank", "min_offloaded_tensor_size",
    "mlp_chunks_for_prefill", "moe_apply_probs_on_input", "moe_aux_loss_coeff",
    "moe_deepep_num_sms", "moe_enable_routing_replay", "moe_hybridep_num_sms", "moe_input_jitter_eps",
    "moe_pad_experts_for_cuda_graph_inference", "moe_per_layer_logging", "moe_router_bias_update_rate",
    "moe_router_dtype", "moe_router_force_biased", "moe_router_pre_softmax",
    "moe_router_score_function", "moe_router_topk_scaling_factor", "moe_token_drop_policy", "moe_token_dropping",
    "moe_z_loss_coeff", "mrope_section", "mscale", "mscale_all_dim", "mtp_enabled", "mtp_loss_scaling_factor",
    "mup_attn_scale_power", "mup_base_head_dim", "mup_base_hidden_size", "mup_embedding_mult", "mup_output_mult",
    "mup_width_mult", "nccl_all_reduce_for_prefill", "no_sync_func", "num_layers_at_end_in_bf16",
    "num_layers_at_start_in_bf16", "offload_modules", "original_max_position_embeddings", "output_layer_init_method",
    "parallel_output", "param_sync_func", "params_dtype", "perform_initialization", "persist_layer_norm",
    "pipeline_dtype", "qk_clip", "qk_clip_alpha", "qk_clip_threshold",
    "rope_scaling", "rope_scaling_factor", "rope_type", "rotary_base", "rotary_interleaved", "rotary_percent",
    "rotary_scaling_factor", "scatter_embedding_sequence_parallel", "seq_len_interpolation_factor", "softmax_scale",
    "test_mode", "timers", "tp_comm_atomic_ag", "tp_comm_atomic_rs", "tp_comm_bootstrap_backend",
    "tp_comm_bulk_dgrad", "tp_comm_bulk_wgrad", "tp_comm_split_ag", "tp_comm_split_rs", "tp_only_amax_red",
    "transformer_layer_spec", "use_arbitrary_attention_mask", "use_cpu_initialization",
    "use_fused_weighted_squared_relu", "use_inference_optimized_layers", "use_kitchen_attention",
    "use_mamba_mem_eff_path", "use_mup", "use_te_activation_func", "use_te_rng_tracker",
    "use_transformer_engine_full_layer_spec", "variable_seq_lengths", "wgrad_deferral_limit", "yarn_beta_fast",
    "yarn_beta_slow", "yarn_correction_range_round_to_int", "yarn_mscale", "yarn_mscale_all_dim",
    "yarn_original_max_position_embeddings", "yarn_rotary_scaling_factor"});

constexpr auto kIdleOptimizer = std::to_array<std::string_view>({
    "adam_beta1", "adam_beta2", "adam_eps", "apply_wd_to_qk_layernorm", "barrier_with_L1_time", "clip_grad",
    "config_logger_dir", "decoupled_lr", "decoupled_min_lr", "decoupled_weight_decay", "fp8_recipe", "hysteresis",
    "initial_loss_scale", "lion_beta1", "lion_beta2", "log_num_zeros_in_grad", "loss_scale", "loss_scale_window",
    "lr", "min_loss_scale", "min_lr", "muon_coefficient_type", "muon_extra_scale_factor", "muon_fp32_matmul_prec",
    "muon_momentum", "muon_num_ns_steps", "muon_scalar_optimizer", "muon_scale_mode", "muon_split_qkv",
    "muon_tp_mode", "muon_use_nesterov", "overlap_cpu_optimizer_d2h_h2d", "params_dtype", "pin_cpu_grads",
    "pin_cpu_params", "reuse_grad_buf_for_mxfp8_param_ag", "timers",
    "use_torch_optimizer_for_cpu_offload", "weight_decay"});

constexpr auto kIdleDdp = std::to_array<std::string_view>({
    "align_param_gather", "average_in_collective", "check_for_large_grads", "check_for_nan_in_grad",
    "delay_wgrad_compute", "disable_symmetric_registration", "fsdp_all_gather_in_start_param_sync",
    "fsdp_db_use_persist_buf_on_alloc_fail", "fsdp_double_buffer", "fsdp_manual_registration",
    "gradient_reduce_div_fusion", "megatron_fsdp_grad_comm_dtype", "megatron_fsdp_main_grads_dtype",
    "megatron_fsdp_main_params_dtype", "pad_buckets_for_high_nccl_busbw",
    "param_name_patterns_for_fp32_local_accumulation", "preserve_fp32_weights", "reuse_grad_buf_for_mxfp8_param_ag"});

constexpr auto kIdleTrain = std::to_array<std::string_view>({
    "check_optimizer_step_success", "check_weight_hash_across_dp_replicas_interval", "decrease_batch_size_if_needed",
    "eval_interval", "eval_iters", "exit_duration_in_mins", "exit_interval", "exit_signal", "exit_signal_handler",
    "exit_signal_handler_for_dataloader", "iterations_to_skip", "manual_gc", "manual_gc_eval", "manual_gc_interval",
    "phase_transition_iterations", "skip_sync_grad_norm_across_mp", "skip_train", "train_iters", "train_samples",
    "train_sync_interval"});
// clang-format on

}  // namespace

std::span<const std::string_view> idle_model_keys() {
  return kIdleModel;
}

std::span<const std::string_view> idle_optimizer_keys() {
  return kIdleOptimizer;
}

std::span<const std::string_view> idle_ddp_keys() {
  return kIdleDdp;
}

std::span<const std::string_view> idle_train_keys() {
  return kIdleTrain;
}

}  // namespace ringwright::configs
