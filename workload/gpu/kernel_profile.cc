#include "workload/gpu/kernel_profile.h"

#include <cmath>

#include "core/base/units.h"

namespace ringwright::workload {
namespace {

using enum KernelConstant;
using enum ConstantForm;

// Class values are between the fits of an A100 and a B200 to the tables of validation/kernels.
constexpr std::array<ConstantSpec, kKernelConstants> kConstants{{
    {kGemmHalfShare, "gemm", "half_share", "share of the bf16 and fp16 peak that short, large products reach", kShare,
     0.78, 0.05, 0.98},
    {kGemmFp8Share, "gemm", "fp8_share", "share of the fp8 peak that short, large products reach", kShare, 0.72, 0.05,
     0.98},
    {kGemmFp4Share, "gemm", "fp4_share", "share of the fp4 peak that short, large products reach", kShare, 0.70, 0.05,
     0.98},
    {kGemmSingleShare, "gemm", "single_share", "share of the tf32 and fp32 peaks that short, large products reach",
     kShare, 0.75, 0.05, 0.98},
    {kGemmSustained, "gemm", "sustained", "what the power limit leaves of that speed in the longest products", kShare,
     0.90, 0.3, 1.0},
    {kGemmPowerTime, "gemm", "power_time", "length of a product that loses half of what the power limit takes", kTime,
     1e-3, 1e-6, 0.1},
    {kGemmDgradSpeed, "gemm", "dgrad_speed", "speed of input-gradient products against forward ones", kShare, 0.98, 0.5,
     1.3},
    {kGemmWgradSpeed, "gemm", "wgrad_speed", "speed of weight-gradient products against forward ones", kShare, 0.94,
     0.5, 1.3},
    {kGemmRamp, "gemm", "k_ramp", "elements of k whose time a tile takes to start and to write its result", kNumber,
     150.0, 0.0, 1024.0},
    {kGemmTileLoad, "gemm", "tile_load", "elements: tiles of a x b lose 1/(1 + this (1/a + 1/b)) of their speed",
     kNumber, 16.0, 0.0, 128.0},
    {kGemmWaveRounding, "gemm", "wave_rounding", "how far a last wave that is partly empty costs like a full one",
     kShare, 0.7, 0.0, 1.0},
    {kGemmMemoryShare, "gemm", "memory_share", "share of memory bandwidth at which products read and write", kShare,
     0.80, 0.1, 1.2},
    {kGemmExposed, "gemm", "exposed",
     "share of the shorter of arithmetic and bytes that the longer one does not hide; 0: within k_ramp", kShare, 0.0,
     0.0, 1.0},
    {kGemmStart, "gemm", "start",
     "time of a product that is neither arithmetic nor bytes: its first loads, its last stores; 0: within k_ramp",
     kTime, 0.0, 0.0, 1e-4},
    {kGemmFp4Start, "gemm", "fp4_start", "what scales of blocks add to it in fp4 products", kTime, 0.0, 0.0, 1e-4},
    {kGemmWidestTile, "gemm", "widest_tile", "largest side of a tile of the library", kWhole, 256.0, 64.0, 512.0},
    {kGemmSmallest, "gemm", "smallest", "smallest of m, n and k that the fit saw; 0: none", kWhole, 0.0, 0.0, 1e9},
    {kGemmLargest, "gemm", "largest", "largest of m, n and k that the fit saw", kWhole, 0.0, 0.0, 1e9},
    {kGroupedSpeed, "grouped", "speed", "speed of grouped products against single ones of as many tiles", kShare, 0.95,
     0.5, 1.2},
    {kGroupedIssue, "grouped", "issue", "time to issue each of a grouped product's groups", kTime, 5e-6, 0.0, 3e-5},
    {kAttentionForwardShare, "attention", "forward_share", "share of peak that fused attention's products reach",
     kShare, 0.70, 0.05, 0.98},
    {kAttentionBackwardShare, "attention", "backward_share", "the same in the backward pass", kShare, 0.60, 0.05, 0.98},
    {kAttentionWideBackward, "attention", "wide_backward_speed",
     "speed of the backward pass of heads wider than 128, whose tiles no longer fit, against narrower ones", kShare,
     0.85, 0.2, 1.2},
    {kAttentionScoreCost, "attention", "score_cost", "time of each score's exponential, in FLOPs of the products",
     kNumber, 100.0, 0.0, 400.0},
    {kAttentionTail, "attention", "tail", "blocks of mean length for which the last wave leaves the GPU half idle",
     kNumber, 1.2, 0.0, 8.0},
    {kAttentionExposed, "attention", "exposed",
     "share of what a block takes to begin, to load first and to store last, and of passes before and after, that no "
     "arithmetic hides",
     kShare, 0.0, 0.0, 2.0},
    {kAttentionStart, "attention", "start", "time of a block to begin that is not its loads", kTime, 1e-6, 0.0, 1e-5},
    {kAttentionRows, "attention", "rows", "query rows of a block", kWhole, 128.0, 16.0, 1024.0},
    {kAttentionIssue, "attention", "issue", "time that the host needs to issue one call of fused attention", kTime,
     2e-5, 0.0, 3e-4},
    {kAttentionShortest, "attention", "shortest", "shortest sequence that the fit saw; 0: none", kWhole, 0.0, 0.0, 1e9},
    {kAttentionLongest, "attention", "longest", "longest sequence that the fit saw", kWhole, 0.0, 0.0, 1e9},
    {kStreamShare, "stream", "share", "share of memory bandwidth that copies reach", kShare, 0.85, 0.1, 1.2},
    {kStreamGap, "stream", "gap", "time from one kernel to the next that is neither arithmetic nor bytes", kTime,
     1.5e-6, 0.0, 1e-4},
    {kStreamCacheSpeed, "stream", "cache_speed", "bandwidth of the last-level cache against the memory's", kNumber, 2.2,
     1.0, 20.0},
    {kStreamCacheShare, "stream", "cache_share",
     "share of the last-level cache that a kernel's bytes may fill and stay", kShare, 0.5, 0.0, 1.0},
    {kStreamNorm, "stream", "norm_speed", "speed of norms against copies", kShare, 0.90, 0.05, 1.5},
    {kStreamElementwise, "stream", "elementwise_speed", "speed of element-wise kernels against copies", kShare, 1.0,
     0.05, 1.5},
    {kStreamSoftmax, "stream", "softmax_speed", "speed of softmax and cross-entropy against copies", kShare, 0.90, 0.05,
     1.5},
    {kStreamEmbedding, "stream", "embedding_speed", "speed of gathers and scatters against copies", kShare, 0.80, 0.05,
     1.5},
    {kStreamOptimizer, "stream", "optimizer_speed", "speed of the optimizer against copies", kShare, 0.95, 0.05, 1.5},
    {kStreamCast, "stream", "cast_speed", "speed of casts and quantisation against copies", kShare, 0.90, 0.05, 1.5},
    {kStreamSmallest, "stream", "smallest", "fewest bytes of a kernel that the fit saw; 0: none", kWhole, 0.0, 0.0,
     1e15},
    {kStreamLargest, "stream", "largest", "most bytes of a kernel that the fit saw", kWhole, 0.0, 0.0, 1e15},
    {kHostLaunch, "host", "launch", "time from one launch to the next when a bare loop on the host issues kernels",
     kTime, 2.5e-6, 0.0, 1e-3},
    {kStepSpeed, "step", "speed", "speed of kernels in a training step against the same kernels measured alone", kShare,
     1.0, 0.1, 1.0},
    {kStepAttentionSpeed, "step", "attention_speed",
     "the same of fused attention, which waits for exponentials and seldom for power", kShare, 1.0, 0.1, 1.0},
}};

double read_constant(ConfigMap& section, const ConstantSpec& spec) {
  switch (spec.form) {
    case kShare:
      return section.percent(
          {.name = spec.name, .doc = spec.doc, .fallback = spec.fallback, .min = spec.min, .max = spec.max});
    case kNumber:
      return section.number(
          {.name = spec.name, .doc = spec.doc, .fallback = spec.fallback, .min = spec.min, .max = spec.max});
    case kTime:
      return to_seconds(section.duration({.name = spec.name,
                                          .doc = spec.doc,
                                          .fallback = from_seconds(spec.fallback),
                                          .min = from_seconds(spec.min),
                                          .max = from_seconds(spec.max)}));
    case kWhole:
      return static_cast<double>(section.integer({.name = spec.name,
                                                  .doc = spec.doc,
                                                  .fallback = std::llround(spec.fallback),
                                                  .min = std::llround(spec.min),
                                                  .max = std::llround(spec.max)}));
  }
  return spec.fallback;
}

struct Section {
  std::string_view name;
  std::string_view doc;
};
constexpr std::array kSections{Section{"gemm", "matrix products"},
                               Section{"grouped", "products of several experts in one call"},
                               Section{"attention", "fused attention"},
                               Section{"stream", "kernels that move bytes: norms, element-wise, optimizer, copies"},
                               Section{"host", "what it takes to issue kernels"},
                               Section{"step", "a training step on many GPUs that never rest"}};

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
  profile.name = kernels.text({.name = "name", .doc = "what reports call these constants", .fallback = std::string()});
  for (const Section& entry : kSections) {
    ConfigMap section = kernels.map(entry.name, entry.doc);
    for (const ConstantSpec& spec : kConstants) {
      if (spec.section != entry.name) continue;
      profile[spec.id] = read_constant(section, spec);
      profile.assumed[static_cast<std::size_t>(spec.id)] = section.evidence(spec.name) == Evidence::kAssumed;
    }
    if (entry.name == "gemm") profile.evidence = section.evidence("half_share");
  }
  return profile;
}

}  // namespace ringwright::workload
