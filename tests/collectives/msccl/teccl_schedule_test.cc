// Schedules of TE-CCL as programs: joined, proved, in the order of epochs.
#include "collectives/msccl/teccl_schedule.h"

#include <optional>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/yaml_reader.h"

namespace ringwright::collectives::teccl_schedule_test {
namespace {

using testing::HasSubstr;


std::optional<MscclProgram> read(const std::string& text, std::string* problem = nullptr) {
  ConfigSource source{.name = "schedule.json"};
  Diagnostics problems;
  const std::optional<ConfigNode> root = read_yaml(text, source, problems);
  EXPECT_TRUE(root.has_value()) << render(problems);
  if (!root) return std::nullopt;
  EXPECT_TRUE(is_teccl_schedule(*root));
  auto program = read_teccl_schedule(*root, "schedule.json");
  if (program) return std::move(*program);
  if (problem != nullptr) *problem = render(program.error());
  return std::nullopt;
}

// Three GPUs (1, 2, 4; 3 is a switch) in a line: 2 passes on what 1 and 4 send.
std::string line(const std::string& flows) {
  return R"({"6-Demand_Met": {
    "GPU 1": {"GPU 2": {"Chunk 0": 1e-6}, "GPU 4": {"Chunk 0": 2e-6}},
    "GPU 2": {"GPU 1": {"Chunk 0": 1e-6}, "GPU 4": {"Chunk 0": 1e-6}},
    "GPU 4": {"GPU 1": {"Chunk 0": 2e-6}, "GPU 2": {"Chunk 0": 1e-6}}},
  "7-Flows": [)" + flows + "]}";
}
constexpr const char* kLine =
    R"("Chunk 0 from 1 traveled over 2->4 in epoch 1", "Chunk 0 from 1 traveled over 1->2 in epoch 0",
       "Chunk 0 from 2 traveled over 2->1 in epoch 0", "Chunk 0 from 2 traveled over 2->4 in epoch 0 via switches 3",
       "Chunk 0 from 4 traveled over 4->2 in epoch 0", "Chunk 0 from 4 traveled over 2->1 in epoch 1")";

TEST(TecclSchedule, IsAProgramWithABlockForEachEndOfAPair) {
  const auto program = read(line(kLine));
  ASSERT_TRUE(program);
  EXPECT_EQ(program->kind, CollectiveKind::kAllGather);
  EXPECT_EQ(program->ranks(), 3);
  EXPECT_EQ(program->chunks, 3);
  EXPECT_EQ(program->gpus[1].blocks.size(), 4U);  // two peers, both ways
  // GPU 2 sends its own chunk to 4, then the one of 1 that block 0 or so has received.
  for (const MscclBlock& block : program->gpus[1].blocks) {
    if (block.send != 2) continue;
    ASSERT_EQ(block.steps.size(), 2U);
    EXPECT_EQ(block.steps[0].source, 1);
    EXPECT_EQ(block.steps[0].after_block, -1);
    EXPECT_EQ(block.steps[1].source, 0);
    EXPECT_EQ(program->gpus[1].blocks[static_cast<std::size_t>(block.steps[1].after_block)].receive, 0);
  }
}

TEST(TecclSchedule, OfMissingFlowsIsDisproved) {
  std::string problem;
  EXPECT_FALSE(read(line(R"("Chunk 0 from 1 traveled over 1->2 in epoch 0")"), &problem));
  EXPECT_THAT(problem, HasSubstr("E184"));
}

TEST(TecclSchedule, ThatPassesOnWhatHasNotArrivedIsWrong) {
  std::string problem;
  EXPECT_FALSE(read(line(R"("Chunk 0 from 1 traveled over 2->4 in epoch 0")"), &problem));
  EXPECT_THAT(problem, HasSubstr("has not arrived"));
}

TEST(TecclSchedule, SaysWhatIsWrong) {
  std::string problem;
  EXPECT_FALSE(read(line(R"("Chunk 0 went from 1 to 2")"), &problem));
  EXPECT_THAT(problem, HasSubstr("is not a flow"));
  EXPECT_FALSE(read(line(R"("Chunk 0 from 7 traveled over 1->2 in epoch 0")"), &problem));
  EXPECT_THAT(problem, HasSubstr("is not a flow"));
  EXPECT_FALSE(read(R"({"6-Demand_Met": {"GPU 0": {"GPU 1": {"Chunk 0": 1}}}, "7-Flows": []})", &problem));
  EXPECT_THAT(problem, HasSubstr("E184"));
  EXPECT_FALSE(read(R"({"7-Flows": []})", &problem));
  EXPECT_THAT(problem, HasSubstr("6-Demand_Met"));
}

}  // namespace
}  // namespace ringwright::collectives::teccl_schedule_test
