// Words in tables of training runs: network cards, precision, recomputation, sharding, overlap, schedule.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::validation {

// Case and the difference between '-', '_' and ' ' do not matter.
[[nodiscard]] bool says(std::string_view text, std::string_view words);

struct NicWords {
  int count = 0;
  double gbps = 0.0;     // of one card
  bool divided = false;  // only the sum of a node was given
};
// "8x200Gbps HDR IB per node", "4 x 200 Gb/s Slingshot", "Storage: 2x ... 400Gb/s, Compute: 8x ConnectX-7 IB NDR
// 400Gb/s", "800 Gbps per node" (taken as cards of 200). Empty where there is no number.
[[nodiscard]] std::optional<NicWords> read_nics(std::string_view text);

// "fp8", "fp4", "bf16", "fp16", "fp32"; empty where the text names none. Of two, the narrower is the type of the
// GEMMs; "fp16/bf16" is bf16, which runs at the same rate.
[[nodiscard]] std::string read_precision(std::string_view text);

// Of GEMMs in fp8: "delayed", "tensorwise", "rowwise", "blockwise", "mxfp8"; empty where the text does not state it.
[[nodiscard]] std::string read_fp8_recipe(std::string_view text);

enum class RecomputeWords { kUnsaid, kNone, kSelective, kSelectiveOps, kSelectiveLayers, kFull };
[[nodiscard]] RecomputeWords read_recompute(std::string_view text);

// "selective layer 2", "every 3rd layer": 2, 3; torchtitan's default where the text gives no number.
[[nodiscard]] int read_layer_period(std::string_view text);
// Megatron's names of recomputed modules: "core_attn", "layernorm", "mla_up_proj", "moe_act".
[[nodiscard]] std::vector<std::string> read_recomputed_modules(std::string_view text);

enum class ShardingWords { kUnsaid, kNone, kOptimizer, kGradients, kParameters };
struct Sharding {
  ShardingWords what = ShardingWords::kUnsaid;
  bool fsdp = false;                // PyTorch's, not DeepSpeed's
  bool keeps_parameters = false;    // gathered once, freed after the backward pass (SHARD_GRAD_OP)
  bool offloads_optimizer = false;  // to host memory
  std::optional<int> degree;        // "FSDP=128": ranks that share one copy
};
[[nodiscard]] Sharding read_sharding(std::string_view text);

struct OverlapWords {
  std::optional<bool> grad_reduce, param_gather, tensor, p2p;
  std::optional<double> bucket_mb;
  bool bf16_gradients = false;
  std::optional<bool> compiled;  // torch.compile
  bool graphs = false;           // kernels are replayed from CUDA graphs
};
[[nodiscard]] OverlapWords read_overlap(std::string_view text);

// Our name of a schedule ("1f1b", "interleaved-1f1b", "zb-h1", "zb-h2"); empty where none is named.
[[nodiscard]] std::string read_schedule_name(std::string_view text);

}  // namespace ringwright::validation
