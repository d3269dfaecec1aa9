#include "workload/options/fused_kernels.h"

#include <string_view>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

bool needs_narrow(ConfigMap& training, std::string_view key, bool set, NarrowTypes narrow) {
  if (!set || narrow == NarrowTypes::kSome || training.documenting()) return set;
  training.warn(key, "W131", fmt::format("{} has no effect: no GEMM is computed in fp8 or fp4", training.path_of(key)));
  return false;
}

void read_expert_kernels(ConfigMap& training, FusedKernels& fused) {
  fused.permute = training.boolean({.name = "moe_permute_fusion",
                                    .doc = "one kernel moves tokens into the order of their experts, with hybridep as "
                                           "part of the dispatch; without: gather, scale and scatter-add of PyTorch",
                                    .fallback = true});
  fused.router = training.boolean({.name = "moe_router_fusion",
                                   .doc = "one kernel scores and chooses experts; without: one per PyTorch operator",
                                   .fallback = true});
  fused.grouped_gemm = training.boolean({.name = "moe_grouped_gemm",
                                         .doc = "the GEMMs of a rank's experts are one kernel (TEGroupedMLP); without: "
                                                "one expert after another, each with separate kernels "
                                                "(SequentialMLP)",
                                         .fallback = true});
}

}  // namespace

FusedKernels read_fused_kernels(ConfigMap& training, NarrowTypes narrow) {
  FusedKernels fused;
  read_expert_kernels(training, fused);
  const bool grouped = training.boolean({.name = "use_transformer_engine_op_fuser",
                                         .doc = "GEMMs of experts, their activation and its casts are one kernel "
                                                "(Transformer Engine's fused grouped MLP, "
                                                "NVTE_CUTEDSL_FUSED_GROUPED_MLP); the SwiGLU of a dense MLP writes "
                                                "fp8 (fp8_recipe delayed or mxfp8) without a cast after it",
                                         .fallback = false});
  const bool attention = training.boolean({.name = "fp8_dot_product_attention",
                                           .doc = "the GEMMs of fused attention are computed in fp8",
                                           .fallback = false});
  fused.fp8_activation_input = training.boolean({.name = "activation_func_fp8_input_store",
                                                 .doc = "SwiGLU stores its input for the backward pass in fp8, by a "
                                                        "cast in each direction; without: in the working type",
                                                 .fallback = false});
  const bool heads = training.boolean({.name = "fp8_multi_head_attention",
                                       .doc = "with fp8_dot_product_attention: linear layers and attention pass each "
                                              "other values in fp8, without casts; queries and keys that are rotated "
                                              "or normalised are cast after that",
                                       .fallback = false});
  fused.gemm_gelu = training.boolean({.name = "gemm_gelu_fusion",
                                      .doc = "GELU is in the epilogue of the MLP's first GEMM, its gradient in that of "
                                             "the second one's dgrad GEMM (cuBLASLt, Apex fused_dense); with "
                                             "fp8_recipe delayed the GEMM writes fp8, and one kernel has the gradient "
                                             "and its cast (Transformer Engine). Of a dense MLP with activation gelu",
                                      .fallback = false});
  fused.bias_gradient = training.boolean({.name = "gemm_bias_gradient_fusion",
                                          .doc = "gradients of biases are summed in the epilogues of GEMMs (cuBLASLt, "
                                                 "Apex fused_dense), with fp8 by the kernel that casts the gradient; "
                                                 "without: by kernels of their own",
                                          .fallback = false});
  const bool logits = training.boolean({.name = "fp8_output_proj",
                                        .doc = "the GEMMs of the output layer are computed in the type of fp8_recipe "
                                               "(Megatron-LM: mxfp8 only)",
                                        .fallback = false});
  fused.residual_norm =
      training.boolean({.name = "fused_residual_rmsnorm",
                        .doc = "the backward pass of RMSNorm adds the gradient of the residual stream; without: a "
                               "kernel of its own does (Transformer Engine)",
                        .fallback = false});
  fused.rotary = training.boolean({.name = "apply_rope_fusion",
                                   .doc = "one kernel rotates queries and keys; without: one per PyTorch operator, as "
                                          "always with position_embedding yarn",
                                   .fallback = true});
  fused.fp8_logits = needs_narrow(training, "fp8_output_proj", logits, narrow);
  fused.mlp = needs_narrow(training, "use_transformer_engine_op_fuser", grouped, narrow);
  fused.grouped_mlp = fused.mlp && fused.grouped_gemm;
  fused.fp8_attention = needs_narrow(training, "fp8_dot_product_attention", attention, narrow);
  fused.fp8_heads = needs_narrow(training, "fp8_multi_head_attention", heads, narrow);
  return fused;
}

}  // namespace ringwright::workload
