// Roofline: a kernel takes the longer of its arithmetic and its memory traffic, each at a share of the data sheet's peak,
// and a fixed time for its launch.
//
//     t = launch + max(flops / (peak[type] * efficiency * wave use), bytes / (bandwidth * memory efficiency))
//
// Williams, Waterman, Patterson, "Roofline" (CACM 2009). Wave use: a product is cut into tiles, one per multiprocessor at
// a time; the last wave is partly empty. Tiles are the CUTLASS shapes; the best one is taken, smaller tiles reach less of
// the peak because they load more per FLOP.
// Defaults: products 0.75 (cuBLASLt 8192^3: A100 254 of 312, H100 about 790 of 989 TFLOP/s, at high clocks; long runs are
// lower), fused attention 0.60 and 0.50 (FlashAttention-2 on A100, arXiv 2307.08691), memory 0.85 (BabelStream: A100 1.70
// of 2.04, H100 2.90 of 3.35 TB/s). They are assumptions: calibrate where numbers matter.
#include <algorithm>
#include <array>
#include <string>

#include "core/base/check.h"
#include "workload/builtin.h"

namespace ringwright::workload {
namespace {

struct Tile {
  std::int64_t m = 0;
  std::int64_t n = 0;
  double speed = 1.0;  // against the largest tile
};

constexpr std::array kTiles{Tile{256, 128, 1.0}, Tile{128, 256, 1.0}, Tile{128, 128, 0.95}, Tile{128, 64, 0.80},
                            Tile{64, 64, 0.65}};

struct Efficiencies {
  double gemm = 0.0;
  double attention_forward = 0.0;
  double attention_backward = 0.0;
  double memory = 0.0;
};

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

class Roofline final : public ComputeModel {
 public:
  Roofline(const GpuSpec& gpu, const Efficiencies& efficiencies) : gpu_(gpu), efficiencies_(efficiencies) {}

  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    Duration busy = transfer_time(kernel.bytes, gpu_.memory_bandwidth * efficiencies_.memory);
    if (kernel.flops > Flops(0.0)) {
      CHECK(gpu_.peak_of(kernel.type) > FlopRate(0.0), "check_precision has been asked");
      busy = std::max(busy, compute_time(kernel.flops, gpu_.peak_of(kernel.type) * efficiency(kernel)));
    }
    return gpu_.kernel_launch + busy;
  }

 private:
  [[nodiscard]] double efficiency(const Kernel& kernel) const {
    if (kernel.family == KernelFamily::kAttentionForward) return efficiencies_.attention_forward;
    if (kernel.family == KernelFamily::kAttentionBackward) return efficiencies_.attention_backward;
    return kernel.m > 0 ? efficiencies_.gemm * wave_use(kernel) : efficiencies_.gemm;
  }

  // Share of the tiles' arithmetic that is asked for, times the share of multiprocessors at work over all waves.
  [[nodiscard]] double wave_use(const Kernel& kernel) const {
    double best = 0.0;
    for (const Tile& tile : kTiles) {
      const std::int64_t tiles = divided_up(kernel.m, tile.m) * divided_up(kernel.n, tile.n) * kernel.batch;
      const std::int64_t slots = divided_up(tiles, gpu_.sms) * gpu_.sms;
      const double asked = static_cast<double>(kernel.m) * static_cast<double>(kernel.n) * static_cast<double>(kernel.batch);
      const double done = static_cast<double>(slots) * static_cast<double>(tile.m * tile.n);
      best = std::max(best, tile.speed * asked / done);
    }
    return best;
  }

  GpuSpec gpu_;
  Efficiencies efficiencies_;
};

double share(ConfigMap& compute, std::string_view name, std::string_view doc, double fallback) {
  const double value = compute.percent({.name = name, .doc = doc, .fallback = fallback, .min = 0.01, .max = 1.0});
  if (!compute.has(name)) compute.assume(name, std::to_string(fallback).substr(0, 4), doc);
  return value;
}

}  // namespace

std::unique_ptr<ComputeModel> make_roofline(ConfigMap& compute, const GpuSpec& gpu) {
  Efficiencies efficiencies;
  efficiencies.gemm =
      share(compute, "gemm_efficiency", "share of peak that matrix products reach when all multiprocessors are busy", 0.75);
  efficiencies.attention_forward =
      share(compute, "attention_forward_efficiency", "share of peak that fused attention reaches", 0.60);
  efficiencies.attention_backward =
      share(compute, "attention_backward_efficiency", "share of peak that fused attention's backward pass reaches", 0.50);
  efficiencies.memory = share(compute, "memory_efficiency", "share of memory bandwidth that streaming kernels reach", 0.85);
  return std::make_unique<Roofline>(gpu, efficiencies);
}

}  // namespace ringwright::workload
