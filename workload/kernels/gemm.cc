// GEMMs: tiles in waves over the multiprocessors, with a ramp per tile, against the bytes they move.
//
//     t = max(arithmetic, moved) + (exposed * operands + exposed_results * results) / bytes * min(arithmetic, moved)
//     arithmetic = (waves * 2ab(k/s + ramp) / (P/sms * speed(a, b)) + reduction(s) + start) / power
//     moved = bytes / memory speed
//
// over tiles of a x b and splits of k into s parts, of which the fastest is taken, as libraries' heuristics aim to.
// Waves are pieces / sms, rounded up by `wave_rounding`: a last wave that is partly empty runs faster than a full one
// (shared bandwidth, higher clock). speed(a, b): a tile loads a + b values for every ab multiply-adds; a load
// takes as long for each byte whatever the type, so that it weighs less where arithmetic is slower (fp32). reduction:
// the parts' fp32 sums are written and read in the last-level cache. power: short GEMMs run at the chip's full clock,
// long ones at the clock that the power limit allows (the control loop needs about a millisecond). ramp is a latency,
// in elements of k at the speed of bf16: narrower types process more of them in the same time, TF32 and fp32 fewer.
// exposed: the multiprocessors of a wave load, compute and store in step, so that they hide each other only in part.
// Grouped GEMMs on a B200 show it best: 64 weight gradients of 4096 x 7168 in fp32 take 3.90 ms over 512 rows and 2.96
// ms without accumulation, which differ by the time of those bytes, though arithmetic alone takes 1.9 ms. Operands are
// loaded ahead of their use, results are read and written at the end of a tile: on an H100 arithmetic hides nearly all
// of the former and half of the latter. start: a GEMM's first loads and last stores, once, for any number of waves.
// Tiles and split-K: CUTLASS, "Efficient GEMM in CUDA"; waves: NVIDIA, "Matrix Multiplication Background User's Guide".
#include <algorithm>
#include <array>
#include <cmath>

#include "workload/kernels/kernel_rules.h"
#include "workload/kernels/serial_kernels.h"

namespace ringwright::workload {
namespace {

using enum KernelConstant;

struct Tile {
  std::int64_t m = 0;
  std::int64_t n = 0;
};
// Tiles below 64 x 64 only pay off for few rows.
constexpr std::array kTiles{Tile{256, 256}, Tile{256, 128}, Tile{128, 256}, Tile{128, 128}, Tile{256, 64},
                            Tile{64, 256},  Tile{128, 64},  Tile{64, 128},  Tile{64, 64},   Tile{32, 128},
                            Tile{128, 32},  Tile{16, 128},  Tile{128, 16}};
// GEMMs of narrow types have no smaller tiles: from 1024 x 1024 x 1024 (64 tiles of 128 x 128) to 1024 x 2145 x 1024
// (136) fp8 takes one wave more on 132 multiprocessors and no more on 152 (validation/kernels/*.azure.csv).
constexpr std::int64_t kLeastNarrowTile = 128 * 128;
constexpr std::array<std::int64_t, 8> kSplits{1, 2, 3, 4, 8, 16, 32, 64};
constexpr std::int64_t kShortestSplit = 512;  // of k

std::int64_t divided_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

double share_of(DataType type, const KernelProfile& profile) {
  return profile[gemm_share(type)];
}

// Elements of two bytes in the 16-byte alignment of tensor core loads. GEMMs of a batch begin at any multiple of their
// sides: without alignment, libraries do not use the tensor cores (heads of 108 made BLOOM's attention 16 times slower,
// the ratio of both peaks: chronicles-prequel.md of bigscience, "NHEADs comparison").
constexpr std::int64_t kAligned = 8;

double gemm_peak(const Kernel& kernel, const GpuSpec& gpu) {
  const bool half = kernel.type == DataType::kBf16 || kernel.type == DataType::kFp16;
  const bool odd = kernel.batch > 1 && (kernel.n % kAligned != 0 || kernel.k % kAligned != 0);
  const bool leaves = half && odd && kernel.family == KernelFamily::kGemm;  // grouped GEMMs are aligned by their
                                                                            // callers
  const double vector = gpu.peak_of(DataType::kFp32).count();
  const double peak = gpu.peak_of(kernel.type).count();
  return leaves && vector > 0.0 ? std::min(peak, vector) : peak;
}

bool is_narrow(DataType type) {
  return type == DataType::kFp8 || type == DataType::kFp4;
}

// Elements of k of the type that are processed while one of bf16 is.
double speed_along_k(const Kernel& kernel, const GpuSpec& gpu) {
  if (kernel.type == DataType::kBf16 || kernel.type == DataType::kFp16) return 1.0;
  const DataType half_type = gpu.peak_of(DataType::kBf16) > FlopRate(0.0) ? DataType::kBf16 : DataType::kFp16;
  const double half = gpu.peak_of(half_type).count() * share_of(half_type, gpu.kernels);
  if (half <= 0.0) return 1.0;
  const double ratio = gpu.peak_of(kernel.type).count() * share_of(kernel.type, gpu.kernels) / half;
  return is_narrow(kernel.type) ? std::max(ratio, 1.0) : std::min(ratio, 1.0);
}

// Bytes of an element against those of bf16.
double bytes_to_half(const Kernel& kernel) {
  return kernel.type == DataType::kTf32 || kernel.type == DataType::kFp32 ? 2.0 : 1.0;
}

double role_speed(const Kernel& kernel, const KernelProfile& profile) {
  switch (kernel.role) {
    case GemmRole::kForward: return 1.0;
    case GemmRole::kDgrad: return profile[kGemmDgradSpeed];
    case GemmRole::kWgrad: return profile[kGemmWgradSpeed];
  }
  return 1.0;
}

// What a kernel of this type on this GPU has in common with every tile.
struct Tiling {
  const Kernel& kernel;
  double speed_along_k = 1.0;
  double tile_load = 0.0;
  double reference = 1.0;    // a tile of this load takes `flops / rate`
  double rate_of_one = 0.0;  // of a multiprocessor
  double sms = 0.0;
  double cache_rate = 0.0;
};

Tiling tiling_of(const Kernel& kernel, const GpuSpec& gpu, double rate) {
  const KernelProfile& profile = gpu.kernels;
  const double speed = speed_along_k(kernel, gpu);
  // Narrow types keep their weight: half of the bytes, twice the arithmetic.
  const double load =
      profile[kGemmTileLoad] * (is_narrow(kernel.type) ? 1.0 : std::min(speed * bytes_to_half(kernel), 1.0));
  const auto sms = static_cast<double>(gpu.sms);
  return {.kernel = kernel,
          .speed_along_k = speed,
          .tile_load = load,
          .reference = 1.0 + load * 2.0 / profile[kGemmWidestTile],
          .rate_of_one = rate / sms,
          .sms = sms,
          .cache_rate = gpu.memory_bandwidth.count() * profile[kStreamCacheSpeed]};
}

// A GEMM in tiles of one size.
struct TiledWork {
  std::int64_t tiles = 0;
  double flops_per_k = 0.0;  // of a tile
  double sum_bytes = 0.0;    // written and read for each part of k
};

TiledWork tiled_work(const Tile& tile, const Tiling& tiling) {
  const Kernel& kernel = tiling.kernel;
  const double penalty =
      1.0 + tiling.tile_load * (1.0 / static_cast<double>(tile.m) + 1.0 / static_cast<double>(tile.n));
  const double flops_per_k = 2.0 * static_cast<double>(tile.m * tile.n) * penalty / tiling.reference;
  const double results =
      static_cast<double>(kernel.m) * static_cast<double>(kernel.n) * static_cast<double>(kernel.batch);
  return {.tiles = divided_up(kernel.m, tile.m) * divided_up(kernel.n, tile.n) * kernel.batch,
          .flops_per_k = flops_per_k,
          .sum_bytes = 8.0 * results};
}

double seconds_with(const TiledWork& work, std::int64_t split, const Tiling& tiling, const KernelProfile& profile) {
  const double waves = std::max(static_cast<double>(work.tiles * split) / tiling.sms, 1.0);
  const double rounded = waves + profile[kGemmWaveRounding] * (std::ceil(waves - 1e-9) - waves);
  const double ramp = profile[kGemmRamp] * tiling.speed_along_k;
  const double depth = static_cast<double>(divided_up(tiling.kernel.k, split)) + ramp;
  const double reduction = split > 1 ? work.sum_bytes * static_cast<double>(split) / tiling.cache_rate : 0.0;
  return rounded * work.flops_per_k * depth / tiling.rate_of_one + reduction;
}

// How a library computes the GEMM.
struct Choice {
  TiledWork work;
  std::int64_t split = 1;
  double seconds = 0.0;  // 0: none yet
};

// The fastest split of k with this tile, if it is faster than the best so far.
void try_splits(const Tile& tile, const Tiling& tiling, const KernelProfile& profile, Choice& best) {
  const TiledWork work = tiled_work(tile, tiling);
  for (const std::int64_t split : kSplits) {
    if (split > 1 && tiling.kernel.k / split < kShortestSplit) break;
    const double seconds = seconds_with(work, split, tiling, profile);
    if (best.seconds <= 0.0 || seconds < best.seconds) best = {.work = work, .split = split, .seconds = seconds};
  }
}

// Thread-block clusters of two (compute capability 9.0 on) need two free multiprocessors of one GPU processing cluster
// (GPC), of which H100 to B300 have eight ("NVIDIA H100 Tensor Core GPU Architecture"). Thread blocks of communication
// go to the GPCs in turn: where they hold an odd number of multiprocessors, a free one has no partner.
constexpr double kFirstWithClusters = 9.0;
constexpr std::int64_t kProcessingClusters = 8;

std::int64_t usable_sms(const GpuSpec& gpu) {
  if (gpu.held_sms == 0 || gpu.compute_capability < kFirstWithClusters) return gpu.sms;
  const std::int64_t each = gpu.held_sms / kProcessingClusters;
  const std::int64_t one_more = gpu.held_sms % kProcessingClusters;
  const std::int64_t odd = each % 2 == 1 ? kProcessingClusters - one_more : one_more;
  return std::max<std::int64_t>(gpu.sms - odd, 1);
}

// Seconds of arithmetic at full clock, with the tile and split that are best on the whole GPU: a library does not know
// which multiprocessors are held.
double tiled_seconds(const Kernel& kernel, const GpuSpec& gpu, double rate) {
  const KernelProfile& profile = gpu.kernels;
  Tiling tiling = tiling_of(kernel, gpu, rate);
  tiling.sms = static_cast<double>(gpu.sms + gpu.held_sms);
  const std::int64_t least = is_narrow(kernel.type) ? kLeastNarrowTile : 0;
  Choice best;
  for (const Tile& tile : kTiles) {
    if (static_cast<double>(std::max(tile.m, tile.n)) > profile[kGemmWidestTile] || tile.m * tile.n < least) continue;
    try_splits(tile, tiling, profile, best);
  }
  if (gpu.held_sms == 0) return best.seconds;
  tiling.sms = static_cast<double>(usable_sms(gpu));
  return seconds_with(best.work, best.split, tiling, profile);
}

// Share of the shorter of arithmetic and bytes that the longer one does not hide.
double exposed_share(const Kernel& kernel, const KernelProfile& profile) {
  if (profile[kGemmExposed] == profile[kGemmExposedResults]) return profile[kGemmExposed];
  const auto bytes = static_cast<double>(kernel.bytes.count());
  const double of_results = bytes > 0.0 ? std::max(1.0 - gemm_operand_bytes(kernel) / bytes, 0.0) : 0.0;
  return profile[kGemmExposed] * (1.0 - of_results) + profile[kGemmExposedResults] * of_results;
}

}  // namespace

KernelConstant gemm_share(DataType type) {
  switch (type) {
    case DataType::kBf16:
    case DataType::kFp16: return kGemmHalfShare;
    case DataType::kFp8: return kGemmFp8Share;
    case DataType::kFp4: return kGemmFp4Share;
    case DataType::kTf32:
    case DataType::kFp32: return kGemmSingleShare;
  }
  return kGemmHalfShare;
}

double gemm_operand_bytes(const Kernel& kernel) {
  return static_cast<double>((kernel.m + kernel.n) * kernel.k * kernel.batch) * bytes_per_element(kernel.type);
}

double gemm_start(const Kernel& kernel, const KernelProfile& profile) {
  return profile[kGemmStart] + (kernel.type == DataType::kFp4 ? profile[kGemmFp4Start] : 0.0);
}

double gemm_seconds(const Kernel& kernel, const GpuSpec& gpu) {
  const KernelProfile& profile = gpu.kernels;
  if (kernel.serial_steps > 0) {
    const double stream = gpu.memory_bandwidth.count() * profile[kGemmMemoryShare];
    return gemm_start(kernel, profile) +
           std::max(serial_gemm_seconds(kernel, gpu), static_cast<double>(kernel.bytes.count()) / stream);
  }
  double rate = gemm_peak(kernel, gpu) * share_of(kernel.type, profile) * role_speed(kernel, profile);
  if (kernel.family == KernelFamily::kGroupedGemm) rate *= profile[kGroupedSpeed];
  const bool has_sizes = kernel.m > 0 && kernel.n > 0 && kernel.k > 0;
  const double arithmetic =
      (has_sizes ? tiled_seconds(kernel, gpu, rate) : kernel.flops.count() / rate) + gemm_start(kernel, profile);
  const double moved =
      static_cast<double>(kernel.bytes.count()) / (gpu.memory_bandwidth.count() * profile[kGemmMemoryShare]);
  const double capped = kernel.flops.count() / (rate * profile[kGemmSustained]);
  const double slowed = std::max(capped - arithmetic, 0.0) * arithmetic / (arithmetic + profile[kGemmPowerTime]);
  const double busy = arithmetic + slowed;
  return std::max(busy, moved) + exposed_share(kernel, profile) * std::min(busy, moved);
}

}  // namespace ringwright::workload
