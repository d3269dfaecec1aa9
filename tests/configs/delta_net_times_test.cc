// The delta rule's kernels compared with measurements of flash-linear-attention: FlashQLA,
// benchmark/benchmark_results_H200.txt (fla 0.5.1, bf16, heads of 128, replayed from a CUDA graph).
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/scenario/gpu_preset.h"
#include "workload/kernels/kernel_rules.h"
#include "workload/kernels/layer_kernels.h"

namespace ringwright::configs::delta_net_times_test {
namespace {

using workload::LayerSection;

struct Measured {
  LayerSection section;
  int heads;  // of values; as many of keys, as Megatron-LM repeats them
  int tokens;
  double milliseconds;
};

// From the first kernel of the delta rule to its last.
double predicted(const Measured& row, const workload::GpuSpec& gpu) {
  workload::KernelContext context;
  context.shape.sequence = row.tokens;
  context.shape.delta_net = workload::DeltaNetShape{.key_heads = row.heads, .value_heads = row.heads};
  double seconds = 0.0;
  for (const Kernel& kernel : kernels_of(row.section, context)) {
    for (const std::string_view name :
         {"decays over chunks", "triangle", "w and u", "states", "states backward", "result", "values gradient",
          "queries and keys gradient", "w and u gradient", "keys gradient sum"}) {
      if (kernel.name == fmt::format("delta net {}", name)) seconds += kernel_seconds(kernel, gpu);
    }
  }
  return 1e3 * seconds;
}

constexpr std::array kForward{
    Measured{LayerSection::kDeltaNet, 8, 8192, 0.234},   Measured{LayerSection::kDeltaNet, 16, 4096, 0.175},
    Measured{LayerSection::kDeltaNet, 16, 8192, 0.334},  Measured{LayerSection::kDeltaNet, 32, 4096, 0.263},
    Measured{LayerSection::kDeltaNet, 32, 8192, 0.500},  Measured{LayerSection::kDeltaNet, 48, 8192, 0.665},
    Measured{LayerSection::kDeltaNet, 64, 8192, 0.814},  Measured{LayerSection::kDeltaNet, 8, 32768, 0.902},
    Measured{LayerSection::kDeltaNet, 32, 32768, 1.939}, Measured{LayerSection::kDeltaNet, 64, 32768, 3.331}};
constexpr std::array kBackward{Measured{LayerSection::kDeltaNetBackward, 16, 8192, 0.957},
                               Measured{LayerSection::kDeltaNetBackward, 32, 8192, 1.444},
                               Measured{LayerSection::kDeltaNetBackward, 32, 32768, 5.697}};

// Nothing was fitted to these times. Costed by bytes, FLOPs and the chain of chunks, kernels take a floor of what was
// measured, since Triton's kernels move bytes at little more than half of the speed of copies. That share is nearly
// the same for all numbers of heads; without the chain it is 0.34 with 8 heads and 0.73 with 64.
TEST(DeltaNetTimes, AreAFloorOfMeasurements) {
  const auto preset = load_gpu("h200-sxm-141gb");
  ASSERT_TRUE(preset);
  for (const Measured& row : kForward) {
    const double ratio = predicted(row, preset->gpu) / row.milliseconds;
    EXPECT_GT(ratio, 0.58) << row.heads << " heads, " << row.tokens << " tokens";
    EXPECT_LT(ratio, 0.75) << row.heads << " heads, " << row.tokens << " tokens";
  }
  for (const Measured& row : kBackward) {
    const double ratio = predicted(row, preset->gpu) / row.milliseconds;
    EXPECT_GT(ratio, 0.50) << row.heads << " heads, " << row.tokens << " tokens";
    EXPECT_LT(ratio, 0.75) << row.heads << " heads, " << row.tokens << " tokens";
  }
}

}  // namespace
}  // namespace ringwright::configs::delta_net_times_test
