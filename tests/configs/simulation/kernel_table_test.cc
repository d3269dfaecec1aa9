#include "configs/simulation/kernel_table.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::kernel_table_test {
namespace {

std::string text_of(const std::string& parallel) {
  return std::string(kTinyModel) + "training: {global_batch: 16}\nparallel: " + parallel +
         "\ncluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n"
         "compute: {model: roofline}\nsimulate: {steps: 1, warmup: 0}\n";
}

Report report_of(const std::string& parallel) {
  const auto outcome = simulate(load(text_of(parallel)), FoldMode::kFold);
  if (!outcome || !outcome->report) throw std::runtime_error("the run does not end");
  return *outcome->report;
}

// Times of kernels on two stages are means over 8 GPUs, as is the computing time; each is rounded to a picosecond.
TEST(KernelTable, AddsUpToTheComputingTime) {
  for (const char* const parallel : {"{dp: 8}", "{tp: 2, pp: 2, dp: 2}"}) {
    const Report report = report_of(parallel);
    Duration sum;
    for (const KernelUse& kernel : report.facts.kernels) sum += kernel.time;
    const auto kernels = static_cast<std::int64_t>(report.facts.kernels.size());
    EXPECT_LE(std::abs((sum - report.everywhere.computing).count()), kernels) << parallel;
  }
}

// In the forward pass, twice in the backward pass: 3 x 2 FLOPs for each parameter and token, of which the embedding
// table has none.
TEST(KernelTable, HasTheGemmsOfTheModel) {
  const Report report = report_of("{dp: 8}");
  double flops = 0.0;
  for (const KernelUse& kernel : report.facts.kernels) {
    if (kernel.family == "gemm") flops += kernel.flops.count() * kernel.launches;
  }
  EXPECT_GT(flops, 0.0);
  EXPECT_LE(flops * 8.0, report.facts.hardware_flops.count() * 1.0001);
}

TEST(KernelTable, IsSortedAndNamesWhatLimits) {
  const std::vector<KernelUse> kernels = report_of("{dp: 8}").facts.kernels;
  EXPECT_TRUE(std::ranges::is_sorted(kernels, std::ranges::greater(), &KernelUse::time));
  // The optimizer reads and writes its states: nothing but memory limits it, or its launch where it is small.
  for (const KernelUse& kernel : kernels) {
    if (kernel.family != "optimizer") continue;
    EXPECT_NE(kernel.bound, KernelBound::kArithmetic) << kernel.name;
  }
}

// 8 GPUs with an uplink and a downlink each to the NVSwitch; a ring all-reduce loads all of them.
TEST(LinkTiers, CountEveryLinkOnce) {
  const Report report = report_of("{dp: 8}");
  const auto tier = std::ranges::find(report.facts.link_tiers, "GPU - NVSwitch", &LinkTier::name);
  ASSERT_NE(tier, report.facts.link_tiers.end());
  EXPECT_EQ(tier->links, 16U);
  std::uint64_t counted = 0;
  for (const std::uint64_t links : tier->by_use) counted += links;
  EXPECT_EQ(counted, tier->links);
  EXPECT_GT(tier->mean, 0.0);
  EXPECT_LE(tier->mean, tier->highest * (1.0 + 1e-12));
}

}  // namespace
}  // namespace ringwright::configs::kernel_table_test
