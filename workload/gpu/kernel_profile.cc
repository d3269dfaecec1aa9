#include "workload/gpu/kernel_profile.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/units.h"

namespace ringwright::workload {
namespace {

using enum KernelConstant;
using enum ConstantForm;

// Class values are between the fits of an A100 and a B200 to the tables of validation/kernels.
constexpr std::array<ConstantSpec, kKernelConstants> kConstants{{
    {kGemmHalfShare, "gemm", "half_share", "share of the bf16 and fp16 peak that short, large GEMMs reach", kShare,
     0.78, 0.05, 0.98},
    {kGemmFp8Share, "gemm", "fp8_share", "share of the fp8 peak that short, large GEMMs reach", kShare, 0.72, 0.05,
     0.98},
    {kGemmFp4Share, "gemm", "fp4_share", "share of the fp4 peak that short, large GEMMs reach", kShare, 0.70, 0.05,
     0.98},
    {kGemmSingleShare, "gemm", "single_share", "share of the tf32 and fp32 peaks that short, large GEMMs reach", kShare,
     0.75, 0.05, 0.98},
    {kGemmSustained, "gemm", "sustained", "share of that speed that the power limit leaves in the longest GEMMs",
     kShare, 0.90, 0.3, 1.0},
    {kGemmPowerTime, "gemm", "power_time", "duration of a GEMM with half of the power limit's loss", kTime, 1e-3, 1e-6,
     0.1},
    {kGemmDgradSpeed, "gemm", "dgrad_speed", "speed of input-gradient (dgrad) GEMMs relative to forward GEMMs", kShare,
     0.98, 0.5, 1.3},
    {kGemmWgradSpeed, "gemm", "wgrad_speed", "speed of weight-gradient (wgrad) GEMMs relative to forward GEMMs", kShare,
     0.94, 0.5, 1.3},
    {kGemmRamp, "gemm", "k_ramp", "time of a tile's start and write-back, in elements of k", kNumber, 150.0, 0.0,
     1024.0},
    {kGemmTileLoad, "gemm", "tile_load", "elements: tiles of a x b lose 1/(1 + this (1/a + 1/b)) of their speed",
     kNumber, 16.0, 0.0, 128.0},
    {kGemmWaveRounding, "gemm", "wave_rounding", "how much a partly empty last wave costs like a full one", kShare, 0.7,
     0.0, 1.0},
    {kGemmMemoryShare, "gemm", "memory_share", "share of memory bandwidth at which GEMMs read and write", kShare, 0.80,
     0.1, 1.2},
    {kGemmExposed, "gemm", "exposed",
     "share of the shorter of arithmetic and bytes that the longer one does not hide; 0: within k_ramp", kShare, 0.0,
     0.0, 1.0},
    {kGemmExposedResults, "gemm", "exposed_results",
     "the same for the share of the bytes that are results; not given: as `exposed`", kShare, 0.0, 0.0, 1.0},
    {kGemmStart, "gemm", "start",
     "fixed time of a GEMM besides arithmetic and bytes: its first loads, its last stores; 0: within k_ramp", kTime,
     0.0, 0.0, 1e-4},
    {kGemmFp4Start, "gemm", "fp4_start", "extra of that time for block scales in fp4 GEMMs", kTime, 0.0, 0.0, 1e-4},
    {kGemmWidestTile, "gemm", "widest_tile", "largest side of a tile of the library", kWhole, 256.0, 64.0, 512.0},
    {kGemmSmallest, "gemm", "smallest", "smallest m, n or k in the fit; 0: none", kWhole, 0.0, 0.0, 1e9},
    {kGemmLargest, "gemm", "largest", "largest m, n or k in the fit", kWhole, 0.0, 0.0, 1e9},
    {kGroupedSpeed, "grouped", "speed", "speed of grouped GEMMs relative to single GEMMs with as many tiles", kShare,
     0.95, 0.5, 1.2},
    {kGroupedIssue, "grouped", "issue", "time to issue each group of a grouped GEMM", kTime, 5e-6, 0.0, 3e-5},
    {kAttentionForwardShare, "attention", "forward_share", "share of peak that fused attention's GEMMs reach", kShare,
     0.70, 0.05, 0.98},
    {kAttentionBackwardShare, "attention", "backward_share", "the same in the backward pass", kShare, 0.60, 0.05, 0.98},
    {kAttentionWideBackward, "attention", "wide_backward_speed",
     "speed of the backward pass of heads wider than 128, whose tiles no longer fit, relative to narrower heads",
     kShare, 0.85, 0.2, 1.2},
    {kAttentionScoreCost, "attention", "score_cost", "time of each score's exponential, in FLOPs of the GEMMs", kNumber,
     100.0, 0.0, 400.0},
    {kAttentionBackwardScores, "attention", "backward_scores",
     "time of each score in the backward pass besides its GEMMs, relative to the forward pass", kNumber, 1.0, 0.0,
     20.0},
    {kAttentionNarrowScores, "attention", "narrow_scores",
     "what each score of the backward pass costs more in fp8 than in bf16, in FLOPs of the GEMMs; 640: fp8 saves "
     "nothing with heads of 128",
     kNumber, 640.0, 0.0, 2000.0},
    {kAttentionTail, "attention", "tail", "blocks of mean length for which the last wave leaves the GPU half idle",
     kNumber, 1.2, 0.0, 8.0},
    {kAttentionExposed, "attention", "exposed",
     "share of a block's start, first loads and last stores, and of passes before and after, that is not hidden by "
     "arithmetic",
     kShare, 0.0, 0.0, 2.0},
    {kAttentionStart, "attention", "start", "start time of a block without its loads", kTime, 1e-6, 0.0, 1e-5},
    {kAttentionRows, "attention", "rows", "query rows of a block", kWhole, 128.0, 16.0, 1024.0},
    {kAttentionIssue, "attention", "issue", "host time to issue one call of fused attention", kTime, 2e-5, 0.0, 3e-4},
    {kAttentionShortest, "attention", "shortest", "shortest sequence in the fit; 0: none", kWhole, 0.0, 0.0, 1e9},
    {kAttentionLongest, "attention", "longest", "longest sequence in the fit", kWhole, 0.0, 0.0, 1e9},
    {kStreamShare, "stream", "share", "share of memory bandwidth that copies reach", kShare, 0.85, 0.1, 1.2},
    {kStreamGap, "stream", "gap", "gap from one kernel to the next besides arithmetic and bytes", kTime, 1.5e-6, 0.0,
     1e-4},
    {kStreamStart, "stream", "start", "time until the first bytes of memory arrive; none for bytes in the cache", kTime,
     0.0, 0.0, 1e-4},
    {kStreamCacheSpeed, "stream", "cache_speed", "bandwidth of the last-level cache relative to memory", kNumber, 2.2,
     1.0, 20.0},
    {kStreamCacheShare, "stream", "cache_share",
     "share of the last-level cache up to which a kernel's bytes stay cached", kShare, 0.5, 0.0, 1.0},
    {kStreamNorm, "stream", "norm_speed", "speed of norms relative to copies", kShare, 0.90, 0.05, 1.5},
    {kStreamElementwise, "stream", "elementwise_speed", "speed of element-wise kernels relative to copies", kShare, 1.0,
     0.05, 1.5},
    {kStreamSoftmax, "stream", "softmax_speed", "speed of softmax and cross-entropy relative to copies", kShare, 0.90,
     0.05, 1.5},
    {kStreamEmbedding, "stream", "embedding_speed", "speed of gathers and scatters relative to copies", kShare, 0.80,
     0.05, 1.5},
    {kStreamOptimizer, "stream", "optimizer_speed", "speed of the optimizer relative to copies", kShare, 0.95, 0.05,
     1.5},
    {kStreamCast, "stream", "cast_speed", "speed of casts and quantisation relative to copies", kShare, 0.90, 0.05,
     1.5},
    {kStreamSmallest, "stream", "smallest", "fewest bytes of a kernel in the fit; 0: none", kWhole, 0.0, 0.0, 1e15},
    {kStreamLargest, "stream", "largest", "most bytes of a kernel in the fit", kWhole, 0.0, 0.0, 1e15},
    {kHostLaunch, "host", "launch", "time from one launch to the next when a bare loop on the host issues kernels",
     kTime, 2.5e-6, 0.0, 1e-3},
    {kStepSpeed, "step", "speed", "speed of kernels in a training step relative to the same kernels measured alone",
     kShare, 1.0, 0.1, 1.0},
    {kStepAttentionSpeed, "step", "attention_speed",
     "the same for fused attention, which is bound by exponentials rather than power", kShare, 1.0, 0.1, 1.0},
}};

double read_constant(ConfigMap& section, const ConstantSpec& spec, double fallback) {
  switch (spec.form) {
    case kShare:
      return section.percent(
          {.name = spec.name, .doc = spec.doc, .fallback = fallback, .min = spec.min, .max = spec.max});
    case kNumber:
      return section.number(
          {.name = spec.name, .doc = spec.doc, .fallback = fallback, .min = spec.min, .max = spec.max});
    case kTime:
      return to_seconds(section.duration({.name = spec.name,
                                          .doc = spec.doc,
                                          .fallback = from_seconds(fallback),
                                          .min = from_seconds(spec.min),
                                          .max = from_seconds(spec.max)}));
    case kWhole:
      return static_cast<double>(section.integer({.name = spec.name,
                                                  .doc = spec.doc,
                                                  .fallback = std::llround(fallback),
                                                  .min = std::llround(spec.min),
                                                  .max = std::llround(spec.max)}));
  }
  return fallback;
}

struct Section {
  std::string_view name;
  std::string_view doc;
};
constexpr std::array kSections{Section{"gemm", "GEMMs"},
                               Section{"grouped", "grouped GEMMs: several experts in one call"},
                               Section{"attention", "fused attention"},
                               Section{"stream", "kernels that move bytes: norms, element-wise, optimizer, copies"},
                               Section{"host", "cost of issuing kernels"},
                               Section{"step", "a training step under sustained load"}};

std::vector<FlashAttention> read_flash_attention(ConfigMap& kernels, const KernelProfile& fastest) {
  std::vector<FlashAttention> releases;
  for (ConfigMap& map :
       kernels.maps("flash_attention",
                    "fused attention by releases of FlashAttention, for `compute.flash_attention`; what is not "
                    "given is as in `attention`")) {
    FlashAttention read{
        .release = static_cast<int>(map.integer(
            {.name = "release", .doc = "release of FlashAttention", .min = 1, .max = kNewestFlashAttention}))};
    for (std::size_t i = 0; i < kLibraryConstants.size(); ++i) {
      const ConstantSpec& spec = kConstants[static_cast<std::size_t>(kLibraryConstants[i])];
      read.values[i] = read_constant(map, spec, fastest[spec.id]);
    }
    if (std::ranges::find(releases, read.release, &FlashAttention::release) != releases.end()) {
      map.error("release", "E141", fmt::format("{} {} is given twice", map.path_of("release"), read.release),
                "keep one of the two");
    }
    releases.push_back(read);
  }
  return releases;
}

}  // namespace

std::span<const ConstantSpec, kKernelConstants> kernel_constants() {
  return kConstants;
}

KernelProfile class_profile() {
  KernelProfile profile;
  for (const ConstantSpec& spec : kConstants) profile[spec.id] = spec.fallback;
  return profile;
}

KernelProfile read_kernel_profile(ConfigMap& kernels) {
  KernelProfile profile;
  profile.name = kernels.text({.name = "name", .doc = "name of these constants in reports", .fallback = std::string()});
  for (const Section& entry : kSections) {
    ConfigMap section = kernels.map(entry.name, entry.doc);
    for (const ConstantSpec& spec : kConstants) {
      if (spec.section != entry.name) continue;
      const bool as_exposed = spec.id == kGemmExposedResults;
      profile[spec.id] = read_constant(section, spec, as_exposed ? profile[kGemmExposed] : spec.fallback);
      profile.assumed[static_cast<std::size_t>(spec.id)] = section.evidence(spec.name) == Evidence::kAssumed;
    }
    if (entry.name == "gemm") profile.evidence = section.evidence("half_share");
  }
  profile.flash_attention = read_flash_attention(kernels, profile);
  return profile;
}

std::optional<KernelProfile> with_flash_attention(const KernelProfile& profile, int release) {
  const auto found = std::ranges::find(profile.flash_attention, release, &FlashAttention::release);
  if (found == profile.flash_attention.end()) return std::nullopt;
  KernelProfile chosen = profile;
  for (std::size_t i = 0; i < kLibraryConstants.size(); ++i) chosen[kLibraryConstants[i]] = found->values[i];
  chosen.flash_attention.clear();
  return chosen;
}

}  // namespace ringwright::workload
