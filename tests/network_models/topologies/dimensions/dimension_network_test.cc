#include "network_models/topologies/dimensions/dimension_network.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network_models/topologies/dimensions/network_file.h"

namespace ringwright::network_models::dimension_network_test {
namespace {

using namespace ringwright::literals;
using testing::HasSubstr;

AstraDimension dimension(AstraBlock block, std::uint32_t nodes) {
  return {.block = block, .nodes = nodes, .gigabytes_per_second = 50.0, .latency_ns = 500.0};
}

// The names of the links from one rank to another.
std::vector<std::string> path(const DimensionPlan& plan, std::uint32_t from, std::uint32_t to, Duration& latency) {
  const Network network = build_dimensions(plan);
  std::vector<Hop> hops;
  latency = network.router->route({.from = RankId(from), .to = RankId(to)}, hops);
  std::vector<std::string> names;
  for (const Hop& hop : hops) names.push_back(network.fabric.name(hop.link));
  return names;
}

TEST(DimensionNetwork, RingsTakeTheShorterWayAndClockwiseWhereBothAreEqual) {
  const DimensionPlan plan{.topology = {{dimension(AstraBlock::kRing, 4)}}, .gpus_per_host = 4};
  Duration latency;
  EXPECT_EQ(path(plan, 0, 2, latency), (std::vector<std::string>{"host0/gpu0->host0/gpu1", "host0/gpu1->host0/gpu2"}));
  EXPECT_EQ(latency, 1_us);
  EXPECT_EQ(path(plan, 0, 3, latency), (std::vector<std::string>{"host0/gpu0->host0/gpu3"}));
}

TEST(DimensionNetwork, EveryLineOfASwitchedDimensionHasItsSwitch) {
  const DimensionPlan plan{.topology = {{dimension(AstraBlock::kSwitch, 2), dimension(AstraBlock::kSwitch, 2)}},
                           .gpus_per_host = 2};
  Duration latency;
  EXPECT_EQ(path(plan, 2, 3, latency), (std::vector<std::string>{"host1/gpu0->switch0.2", "switch0.2->host1/gpu1"}));
  EXPECT_EQ(path(plan, 1, 3, latency), (std::vector<std::string>{"host0/gpu1->switch1.1", "switch1.1->host1/gpu1"}));
}

TEST(DimensionNetwork, PathsCrossAllDimensionsThatDifferOrOnlyTheFirst) {
  DimensionPlan plan{
      .topology = {{dimension(AstraBlock::kFullyConnected, 2), dimension(AstraBlock::kFullyConnected, 2)}},
      .gpus_per_host = 2};
  Duration latency;
  EXPECT_EQ(path(plan, 0, 3, latency), (std::vector<std::string>{"host0/gpu0->host0/gpu1", "host0/gpu1->host1/gpu1"}));
  plan.crossed = CrossedDimensions::kFirst;
  EXPECT_EQ(path(plan, 0, 3, latency), (std::vector<std::string>{"host0/gpu0->host0/gpu1"}));
  EXPECT_EQ(latency, 500_ns);
}

std::string mistakes(const std::string& text) {
  const auto reading = read_astra_network(InputFile{.path = "network.yml", .text = text});
  return reading ? "" : render(reading.error());
}

TEST(NetworkFile, AWrongEntryIsOneMistake) {
  const std::string said = mistakes("topology: [ Ring ]\nnpus_count: [ 0 ]\nbandwidth: [ -5 ]\nlatency: [ x ]\n");
  EXPECT_THAT(said, HasSubstr("'npus_count[0]' is 0"));
  EXPECT_THAT(said, HasSubstr("bandwidth has '-5' and needs numbers above 0"));
  EXPECT_THAT(said, HasSubstr("latency has 'x'"));
  EXPECT_THAT(said, HasSubstr("3 errors"));
}

TEST(NetworkFile, ListsOfOtherLengthsAndMissingOnesAreMistakes) {
  const std::string said = mistakes("topology: [ Ring, Ring ]\nnpus_count: [ 8 ]\nbandwidth: [ 50, 50, 50 ]\n");
  EXPECT_THAT(said, HasSubstr("npus_count has 1 entries and topology has 2"));
  EXPECT_THAT(said, HasSubstr("bandwidth has 3 entries and topology has 2"));
  EXPECT_THAT(said, HasSubstr("'latency' is missing"));
}

}  // namespace
}  // namespace ringwright::network_models::dimension_network_test
