#include "planning/operation/pipeline_templates.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace ringwright::planning::pipeline_templates_test {
namespace {

bool is_sum(std::int64_t hosts, std::int64_t least, std::int64_t most) {
  if (hosts == 0) return true;
  for (std::int64_t size = least; size <= std::min(most, hosts); ++size) {
    if (is_sum(hosts - size, least, most)) return true;
  }
  return false;
}

// Oobleck's theorem by enumeration: sizes {3, 4, 5} cover every number but 1 and 2.
TEST(PipelineTemplates, CoverEveryNumberOfHosts) {
  const PipelineRules rules{.least = 3, .most = 5};
  for (std::int64_t hosts = 1; hosts <= 60; ++hosts) {
    const std::vector<std::int64_t> lengths = cover_hosts(rules, hosts);
    EXPECT_EQ(!lengths.empty(), is_sum(hosts, 3, 5)) << hosts;
    EXPECT_EQ(lengths.empty(), hosts < 3) << hosts;
    if (lengths.empty()) continue;
    EXPECT_EQ(std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}), hosts);
    EXPECT_GE(std::ranges::min(lengths), 3);
    EXPECT_LE(std::ranges::max(lengths), 5);
  }
}

// The slowest pipeline is as fast as any sharing allows, against all sharings of small cases.
TEST(PipelineTemplates, SharesMicrobatchesAsWellAsPossible) {
  const std::vector<std::int64_t> throughputs{3, 4, 5};
  for (std::int64_t batch = 1; batch <= 24; ++batch) {
    const std::vector<std::int64_t> shares = share_microbatches(throughputs, batch);
    const auto slowest = [&](std::int64_t a, std::int64_t b, std::int64_t c) {
      return std::max({static_cast<double>(a) / 3.0, static_cast<double>(b) / 4.0, static_cast<double>(c) / 5.0});
    };
    double best = 1e9;
    for (std::int64_t a = 0; a <= batch; ++a) {
      for (std::int64_t b = 0; a + b <= batch; ++b) best = std::min(best, slowest(a, b, batch - a - b));
    }
    EXPECT_NEAR(slowest(shares[0], shares[1], shares[2]), best, 1e-12) << batch;
  }
}

TEST(PipelineTemplates, TimeGrowsAsHostsAreLost) {
  const PipelineRules rules{.least = 4, .most = 7};
  EXPECT_DOUBLE_EQ(*template_time(rules, 31) / *template_time(rules, 32), 32.0 / 31.0);
  EXPECT_FALSE(template_time(rules, 3));
  const PipelineRules whole{.least = 4, .most = 7, .microbatches = 64};
  EXPECT_GE(*template_time(whole, 31) * 31.0, 1.0);  // whole microbatches never divide better than fractions
}

}  // namespace
}  // namespace ringwright::planning::pipeline_templates_test
