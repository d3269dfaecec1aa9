#include "validation/nccl/class_values.h"

#include <algorithm>
#include <fstream>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"
#include "validation/nccl/machine_list.h"

namespace ringwright::validation::class_values_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kTable =
    "class,constant,value,machines\n"
    "hopper,comm.costs.launch,4us,north\n"
    "ampere,comm.costs.launch_channel,1.5us,south\n"
    "roce,comm.costs.network.proxy,0.9us,north south\n"
    "efa,comm.costs.network.proxy,7us,east\n"
    "hopper,cluster.node.nvlink.efficiency,85%,north\n";

[[nodiscard]] std::vector<std::string> of(const MachineClass& machine) {
  const auto values = parse_class_values("classes.csv", kTable);
  EXPECT_TRUE(values.has_value()) << (values ? "" : render(values.error()));
  return values ? overrides_of(machine, *values) : std::vector<std::string>();
}

TEST(ClassValues, AreThoseOfTheGenerationAndOfTheNetwork) {
  const auto overrides = of({.generation = "hopper", .network = "efa"});
  EXPECT_THAT(overrides, Contains("comm.costs.launch=4us"));
  EXPECT_THAT(overrides, Contains("comm.costs.network.proxy=7us"));
  EXPECT_THAT(overrides, Not(Contains(HasSubstr("launch_channel"))));
  EXPECT_THAT(of({.generation = "volta", .network = "none"}), IsEmpty());
}

// The link's share that NCCL plans with comes before the one of the class, which is known more closely.
TEST(ClassValues, ComeAfterPlanningValues) {
  EXPECT_THAT(of({.generation = "hopper", .network = "none", .link_efficiency = "82.4%"}),
              ElementsAre("cluster.node.nvlink.efficiency=82.4%", "comm.costs.launch=4us",
                          "cluster.node.nvlink.efficiency=85%"));
  // Without NVLink it has no values.
  EXPECT_THAT(of({.generation = "hopper", .network = "none"}), ElementsAre("comm.costs.launch=4us"));
}

// A100's logs within a host are of libraries that set up every channel; newer ones cost next to nothing.
TEST(ClassValues, OfChannelsHoldWhereTheLibrarySetsThemUp) {
  EXPECT_THAT(of({.generation = "ampere", .network = "none", .work_by_channel = true}),
              ElementsAre("comm.costs.launch_channel=1.6us", "comm.costs.host.channel=0.2us",
                          "comm.costs.launch_channel=1.5us"));
  EXPECT_THAT(of({.generation = "ampere", .network = "none"}), IsEmpty());
}

TEST(ClassValues, MistakesAreReportedWithTheirPlace) {
  const auto strange = parse_class_values("classes.csv", "class,constant,value\nhopper,comm.costs.lunch,4us\n");
  ASSERT_FALSE(strange.has_value());
  EXPECT_THAT(render(strange.error()), HasSubstr("classes.csv:2:8"));
  EXPECT_THAT(render(strange.error()), HasSubstr("comm.costs.lunch"));
  const auto empty = parse_class_values("classes.csv", "class,constant,value\nhopper,comm.costs.launch,\n");
  ASSERT_FALSE(empty.has_value());
  EXPECT_THAT(render(empty.error()), HasSubstr("names no class, constant and value"));
  const auto column = parse_class_values("classes.csv", "class,constant\nhopper,comm.costs.launch\n");
  ASSERT_FALSE(column.has_value());
  EXPECT_THAT(render(column.error()), HasSubstr("no column 'value'"));
  EXPECT_FALSE(read_class_values("/nowhere/classes.csv").has_value());
}

TEST(ClassValues, MayComeFromAFileOfOnesOwnOrNotAtAll) {
  const std::string path = test::own_folder() + "/classes.csv";
  std::ofstream(path) << kTable;
  EXPECT_EQ(read_class_values(path)->size(), 5u);
  EXPECT_TRUE(read_class_values(std::string(kNoClasses))->empty());
}

TEST(ClassValues, AreShippedForEveryGenerationOfNvidia) {
  const auto values = read_class_values(std::string(kShippedClasses));
  ASSERT_TRUE(values.has_value()) << render(values.error());
  std::set<std::string> names;
  for (const ClassValue& value : *values) names.insert(value.name);
  for (const char* name : {"volta", "ampere", "hopper", "blackwell", "slingshot"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
}

}  // namespace
}  // namespace ringwright::validation::class_values_test
