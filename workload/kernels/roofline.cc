// Roofline: a kernel takes the longer of its arithmetic and its memory traffic, each at a share of the data sheet's
// peak, and a fixed time for its launch.
//
//     t = launch + max(flops / (peak[type] * efficiency * wave use), bytes / (bandwidth * memory efficiency))
//
// Williams, Waterman, Patterson, "Roofline" (CACM 2009). Wave use: a GEMM is cut into tiles, one per multiprocessor at
// a time; the last wave is partly empty. Tiles are CUTLASS shapes; the best one is taken, smaller tiles reach less of
// the peak because they load more per FLOP; a long k may be split where tiles are few (split-K), which costs a tenth.
// Defaults: GEMMs 0.75 - with it the rule predicts the 183 GEMMs of github.com/MooreThreads/SimuMax, a100_pcie.json, at
// a median error of 4 % (90 % of them within 12 %, no bias); that project's B200 table needs 0.50. Fused attention 0.60
// and 0.50 (FlashAttention-2 on A100, arXiv 2307.08691), memory 0.85 (BabelStream in github.com/Azure/
// AI-benchmarking-guide: A100 1.70 of 2.04, H100 2.97 of 3.35 TB/s). They are assumptions elsewhere: calibrate where
// numbers matter.
#include <algorithm>
#include <array>
#include <string>

#include "core/base/check.h"
#include "workload/builtin.h"
#include "workload/gpu/gpu_share.h"
#include "workload/kernels/serial_kernels.h"

namespace ringwright::workload {
namespace {

struct RatedTile {
  std::int64_t m = 0;
  std::int64_t n = 0;
  double speed = 1.0;  // relative to the largest tile
};

constexpr std::array kRatedTiles{RatedTile{256, 128, 1.0}, RatedTile{128, 256, 1.0}, RatedTile{128, 128, 0.95},
                                 RatedTile{128, 64, 0.80}, RatedTile{64, 64, 0.65},  RatedTile{32, 64, 0.50}};

constexpr std::array<std::int64_t, 4> kRooflineSplits{1, 2, 4, 8};
constexpr std::int64_t kShortestRooflineSplit = 1024;  // of k
constexpr double kSplitSpeed = 0.90;

struct Efficiencies {
  double gemm = 0.0;
  double attention_forward = 0.0;
  double attention_backward = 0.0;
  double memory = 0.0;
};

std::int64_t rounded_up_quotient(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

class Roofline final : public ComputeModel {
 public:
  Roofline(const GpuSpec& gpu, const Efficiencies& efficiencies) : gpu_(gpu), efficiencies_(efficiencies) {}

  [[nodiscard]] std::int64_t sms() const override { return gpu_.sms; }
  [[nodiscard]] Duration duration_under(const Kernel& kernel, const Contention& contention) const override {
    return Roofline(GpuShare(gpu_, contention, efficiencies_.memory).of_kernel(), efficiencies_).duration(kernel);
  }
  [[nodiscard]] Bandwidth memory_under(const Kernel& kernel, const Contention& contention) const override {
    return GpuShare(gpu_, contention, efficiencies_.memory).of_blocks(kernel, duration_under(kernel, contention));
  }
  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    if (kernel.share_of > 1) return duration(whole_kernel(kernel)) / kernel.share_of;
    if (kernel.concurrent) return transfer_time(kernel.bytes, drawn_by_all());
    Duration busy = transfer_time(kernel.bytes, gpu_.memory_bandwidth * efficiencies_.memory);
    if (kernel.serial_steps > 0) return gpu_.kernel_launch + std::max(busy, serial_time(kernel));
    if (kernel.flops > Flops(0.0)) {
      CHECK(gpu_.peak_of(kernel.type) > FlopRate(0.0), "check_precision was called");
      busy = std::max(busy, compute_time(kernel.flops, gpu_.peak_of(kernel.type) * efficiency(kernel)));
    }
    return gpu_.kernel_launch + busy;
  }
  [[nodiscard]] Duration launch_overhead(const Kernel& kernel) const override {
    return gpu_.kernel_launch / kernel.share_of;
  }

 private:
  // The rate at which all multiprocessors could draw from memory, if it were fast enough.
  [[nodiscard]] Bandwidth drawn_by_all() const {
    return gpu_.memory_bandwidth * (efficiencies_.memory / gpu_.streaming_share);
  }
  [[nodiscard]] double efficiency(const Kernel& kernel) const {
    if (kernel.family == KernelFamily::kAttentionForward) return efficiencies_.attention_forward;
    if (kernel.family == KernelFamily::kAttentionBackward) return efficiencies_.attention_backward;
    return kernel.m > 0 ? efficiencies_.gemm * wave_use(kernel) : efficiencies_.gemm;
  }

  // One multiprocessor draws as much of the last-level cache as of memory.
  [[nodiscard]] Duration serial_time(const Kernel& kernel) const {
    if (kernel.flops <= Flops(0.0)) return from_seconds(serial_load_seconds(kernel));
    const auto sms = static_cast<double>(gpu_.sms);
    const double memory = gpu_.memory_bandwidth.count() * efficiencies_.memory;
    return from_seconds(serial_seconds(kernel, gpu_.sms,
                                       {.flops = gpu_.peak_of(kernel.type).count() * efficiencies_.gemm / sms,
                                        .bytes = memory / (sms * gpu_.streaming_share)}));
  }

  // Share of the tiles' arithmetic that is needed, times the share of busy multiprocessors over all waves.
  [[nodiscard]] double wave_use(const Kernel& kernel) const {
    double best = 0.0;
    for (const RatedTile& tile : kRatedTiles) {
      const std::int64_t tiles =
          rounded_up_quotient(kernel.m, tile.m) * rounded_up_quotient(kernel.n, tile.n) * kernel.batch;
      const double asked =
          static_cast<double>(kernel.m) * static_cast<double>(kernel.n) * static_cast<double>(kernel.batch);
      const double asked_share = asked / (static_cast<double>(tiles) * static_cast<double>(tile.m * tile.n));
      best = std::max(best, tile.speed * asked_share * occupancy({.tiles = tiles, .k = kernel.k}));
    }
    return best;
  }

  struct Grid {
    std::int64_t tiles = 1;
    std::int64_t k = 1;
  };
  // Share of busy multiprocessors, over all waves.
  [[nodiscard]] double occupancy(const Grid& grid) const {
    double best = 0.0;
    for (const std::int64_t split : kRooflineSplits) {
      if (split > 1 && grid.k / split < kShortestRooflineSplit) break;
      const std::int64_t sections = grid.tiles * split;
      const auto slots = static_cast<double>(rounded_up_quotient(sections, gpu_.sms) * gpu_.sms);
      best = std::max(best, static_cast<double>(sections) / slots * (split > 1 ? kSplitSpeed : 1.0));
    }
    return best;
  }

  GpuSpec gpu_;
  Efficiencies efficiencies_;
};

struct Share {
  std::string_view name;
  std::string_view doc;
  double fallback = 0.0;
  double Efficiencies::*to = nullptr;
};
constexpr std::array kShares{
    Share{"gemm_efficiency", "share of peak that GEMMs reach when all multiprocessors are busy", 0.75,
          &Efficiencies::gemm},
    Share{"attention_forward_efficiency", "share of peak that fused attention reaches", 0.60,
          &Efficiencies::attention_forward},
    Share{"attention_backward_efficiency", "share of peak that fused attention's backward pass reaches", 0.50,
          &Efficiencies::attention_backward},
    Share{"memory_efficiency", "share of memory bandwidth that streaming kernels reach", 0.85, &Efficiencies::memory}};

double read_share(ConfigMap& compute, const Share& share) {
  const double value =
      compute.percent({.name = share.name, .doc = share.doc, .fallback = share.fallback, .min = 0.01, .max = 1.0});
  if (!compute.has(share.name)) compute.assume(share.name, std::to_string(share.fallback).substr(0, 4), share.doc);
  return value;
}

}  // namespace

bool sets_roofline(const ConfigMap& compute) {
  return std::ranges::any_of(kShares, [&](const Share& share) { return compute.has(share.name); });
}

std::unique_ptr<ComputeModel> make_roofline(ConfigMap& compute, const GpuSpec& gpu) {
  Efficiencies efficiencies;
  for (const Share& share : kShares) efficiencies.*share.to = read_share(compute, share);
  compute.ignore("flash_attention", "with 'compute.model: roofline' attention runs at attention_forward_efficiency");
  return std::make_unique<Roofline>(gpu, efficiencies);
}

}  // namespace ringwright::workload
