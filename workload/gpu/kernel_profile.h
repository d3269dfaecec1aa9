// The few constants that set how fast one GPU runs each family of kernels, and the range of sizes of their fit: the
// content of `cluster.node.gpu.kernels`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/evidence.h"
#include "core/config/config_map.h"

namespace ringwright::workload {

enum class KernelConstant {
  kGemmHalfShare,
  kGemmFp8Share,
  kGemmFp4Share,
  kGemmSingleShare,
  kGemmSustained,
  kGemmPowerTime,
  kGemmDgradSpeed,
  kGemmWgradSpeed,
  kGemmRamp,
  kGemmTileLoad,
  kGemmWaveRounding,
  kGemmMemoryShare,
  kGemmExposed,
  kGemmExposedResults,
  kGemmStart,
  kGemmFp4Start,
  kGemmWidestTile,
  kGemmSmallest,
  kGemmLargest,
  kGroupedSpeed,
  kGroupedIssue,
  kAttentionForwardShare,
  kAttentionBackwardShare,
  kAttentionWideBackward,
  kAttentionScoreCost,
  kAttentionBackwardScores,
  kAttentionNarrowScores,
  kAttentionTail,
  kAttentionExposed,
  kAttentionStart,
  kAttentionRows,
  kAttentionIssue,
  kAttentionShortest,
  kAttentionLongest,
  kStreamShare,
  kStreamGap,
  kStreamStart,
  kStreamCacheSpeed,
  kStreamCacheShare,
  kStreamNorm,
  kStreamElementwise,
  kStreamSoftmax,
  kStreamEmbedding,
  kStreamOptimizer,
  kStreamCast,
  kStreamSmallest,
  kStreamLargest,
  kHostLaunch,
  kStepSpeed,
  kStepAttentionSpeed,
  kCount
};
inline constexpr auto kKernelConstants = static_cast<std::size_t>(KernelConstant::kCount);

// How a constant is written: "75%", a plain number, "2.4us", a whole number.
enum class ConstantForm { kShare, kNumber, kTime, kWhole };

struct ConstantSpec {
  KernelConstant id = KernelConstant::kCount;
  std::string_view section;  // "gemm"
  std::string_view name;     // "k_ramp"
  std::string_view doc;
  ConstantForm form = ConstantForm::kNumber;
  double fallback = 0.0;  // times in seconds
  double min = 0.0;
  double max = 0.0;
};
// By id.
[[nodiscard]] std::span<const ConstantSpec, kKernelConstants> kernel_constants();

// The constants of fused attention that differ from library to library.
inline constexpr std::array kLibraryConstants{
    KernelConstant::kAttentionForwardShare, KernelConstant::kAttentionBackwardShare,
    KernelConstant::kAttentionScoreCost,    KernelConstant::kAttentionBackwardScores,
    KernelConstant::kAttentionTail,         KernelConstant::kAttentionExposed,
    KernelConstant::kAttentionStart};

// Fused attention by one release of FlashAttention.
struct FlashAttention {
  int release = 0;
  std::array<double, kLibraryConstants.size()> values{};  // in the order of kLibraryConstants
};
inline constexpr int kNewestFlashAttention = 4;

struct KernelProfile {
  std::string name;  // empty: the GPU has none, and every constant is the class value
  std::array<double, kKernelConstants> values{};
  Evidence evidence = Evidence::kAssumed;        // of the share of peak that GEMMs reach
  std::array<bool, kKernelConstants> assumed{};  // used, but neither measured nor fitted on this GPU
  std::vector<FlashAttention> flash_attention;   // releases whose kernels are not the fastest on this GPU

  [[nodiscard]] double operator[](KernelConstant id) const { return values[static_cast<std::size_t>(id)]; }
  [[nodiscard]] double& operator[](KernelConstant id) { return values[static_cast<std::size_t>(id)]; }
};

// The profile with the kernels of that release of FlashAttention instead of the fastest. Empty where it has none.
[[nodiscard]] std::optional<KernelProfile> with_flash_attention(const KernelProfile& profile, int release);
// Every constant at its default for a GPU without measurements.
[[nodiscard]] KernelProfile class_profile();
// Reads `cluster.node.gpu.kernels`. Mistakes are recorded in the map.
[[nodiscard]] KernelProfile read_kernel_profile(ConfigMap& kernels);

}  // namespace ringwright::workload
