// Which small kernels are part of others: of expert layers, and the casts of narrow types.
#pragma once

#include "core/config/config_map.h"

namespace ringwright::workload {

struct FusedKernels {
  bool permute = true;        // moe_permute_fusion
  bool router = true;         // moe_router_fusion
  bool grouped_gemm = true;   // moe_grouped_gemm
  bool grouped_mlp = false;   // use_transformer_engine_op_fuser: of experts
  bool mlp = false;           // the same of a dense MLP
  bool fp8_attention = false; // fp8_dot_product_attention
  bool fp8_heads = false;     // fp8_multi_head_attention: between linear layers and attention values stay in fp8
  bool gemm_gelu = false;     // gemm_gelu_fusion
  bool bias_gradient = false; // gemm_bias_gradient_fusion
  bool fp8_activation_input = false;  // activation_func_fp8_input_store
  bool fp8_logits = false;            // fp8_output_proj
  bool residual_norm = false;         // fused_residual_rmsnorm
  bool rotary = true;                 // apply_rope_fusion

  friend bool operator==(const FusedKernels&, const FusedKernels&) = default;
};

enum class NarrowTypes { kNone, kSome };

// Keys of the `training` map; `narrow`: whether GEMMs are computed in fp8 or fp4.
[[nodiscard]] FusedKernels read_fused_kernels(ConfigMap& training, NarrowTypes narrow);

}  // namespace ringwright::workload
