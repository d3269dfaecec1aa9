#include "configs/simulation/collective_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::configs::collective_sizes_test {
namespace {

using namespace literals;

TEST(CollectiveSizes, ComeInTheirOrderWithAnyNumberOfThreads) {
  const auto loaded = load_machine_text("machine.yaml", "cluster: {nodes: 2, node: {preset: dgx-h100}}\n", {});
  ASSERT_TRUE(loaded.has_value());
  const Scenario& scenario = *loaded;
  std::vector<CollectiveRequest> requests;
  for (Bytes size = 1_KiB; size <= 16_MiB; size = size * 4) requests.push_back({.bytes = size});
  const auto times = [&](int threads, std::size_t wanted) {
    std::vector<Duration> all;
    run_sizes(scenario, requests, threads, [&](std::size_t index, const Result<CollectiveResult>& result) {
      EXPECT_EQ(index, all.size());
      all.push_back(result->time);
      return all.size() < wanted;
    });
    return all;
  };
  const std::vector<Duration> alone = times(1, 100);
  EXPECT_EQ(alone.size(), requests.size());
  EXPECT_EQ(times(3, 100), alone);
  EXPECT_EQ(times(3, 2), std::vector(alone.begin(), alone.begin() + 2));
}

TEST(IgnoredBySize, StatesOfHowManySizesAKeyIs) {
  IgnoredBySize ignored;
  ignored.add({{.path = "a", .origin = {}, .why = "always"}});
  ignored.add({{.path = "a", .origin = {}, .why = "always"}, {.path = "b", .origin = {}, .why = "small"}});
  const std::vector<IgnoredKey> keys = ignored.keys();
  ASSERT_EQ(keys.size(), 2U);
  EXPECT_EQ(keys[0].why, "always");
  EXPECT_EQ(keys[1].why, "small (at 1 of 2 sizes)");
}

}  // namespace
}  // namespace ringwright::configs::collective_sizes_test
