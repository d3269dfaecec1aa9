// What the name of a GPU kernel says: the collective of an NCCL or RCCL kernel, and the family of any other.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ringwright::traces {

// NCCL builds few kernels and lets each run several variants: a name with RING_LL stands for every algorithm but the
// tree, and for all protocols (src/device/generate.py, best_kernel), unless NCCL was built with exact names. So TREE,
// LL128, SIMPLE and NVLS in a name are facts, RING and LL are not.
struct NcclKernelName {
  std::string operation;  // "all_reduce"; empty: the name is generic
  std::string variant;    // "RING_LL": algorithm and protocol; empty where the name has neither
};
// Whether it is a kernel of NCCL, RCCL or of another library that communicates (DeepEP, NVSHMEM, symmetric memory).
[[nodiscard]] bool communicates(std::string_view kernel);
// Whether NCCL or RCCL made it, so that it is one call of a communicator.
[[nodiscard]] bool is_nccl_kernel(std::string_view kernel);
[[nodiscard]] NcclKernelName parse_nccl_kernel(std::string_view kernel);

// The version of NCCL whose kernels have the arguments in this full name: "2.10" up to 2.10, "2.11"; empty for others.
[[nodiscard]] std::string_view nccl_of_kernel(std::string_view kernel);

enum class WorkFamily : std::uint8_t {
  kCommunication,
  kAttention,
  kConvolution,
  kGemm,
  kNorm,
  kSoftmax,
  kOptimizer,
  kEmbedding,
  kSort,
  kReduction,
  kElementwise,
  kOther,
};
inline constexpr std::size_t kWorkFamilies = 12;
[[nodiscard]] std::string_view to_string(WorkFamily family);
[[nodiscard]] WorkFamily family_of(std::string_view kernel);

}  // namespace ringwright::traces
