// Execution plans of MSCCL++: correct plans are proved, mistakes are reported with the failing line.
#include "collectives/msccl/execution_plan.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/collectives/msccl/example_plans.h"

namespace ringwright::collectives::execution_plan_test {
namespace {

using ::testing::HasSubstr;

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return at == std::string::npos ? text : text.replace(at, what.size(), by);
}

std::string mistake(const std::string& text) {
  auto plan = parse_execution_plan(text, "p.json");
  EXPECT_FALSE(plan.has_value());
  return plan ? "" : render(plan.error());
}

TEST(ExecutionPlan, ReadsTheHead) {
  auto plan = parse_execution_plan(packet_plan(), "p.json");
  ASSERT_TRUE(plan.has_value()) << render(plan.error());
  EXPECT_EQ(plan->kind, CollectiveKind::kAllReduce);
  EXPECT_EQ(plan->protocol, Protocol::kLl);
  EXPECT_EQ(plan->threads, 512);
  EXPECT_EQ(plan->chunks, 2);
  EXPECT_GT(plan->max_bytes, Bytes(std::int64_t{1} << 60));
}

TEST(ExecutionPlan, ProvesLoadsAndStoresOfAnyNumberOfGpus) {
  for (int ranks = 2; ranks <= 16; ++ranks) {
    auto plan = parse_execution_plan(read_all_plan(ranks), "p.json");
    EXPECT_TRUE(plan.has_value()) << ranks << "\n" << render(plan.error());
  }
}

TEST(ExecutionPlan, ProvesPutsThroughPorts) {
  for (const char* put : {"put", "pws", "pwsf"}) {
    auto plan = parse_execution_plan(port_plan(5, put), "p.json");
    ASSERT_TRUE(plan.has_value()) << put << "\n" << render(plan.error());
    // Each GPU's data to four others; a put without a signal of its own has one after it.
    EXPECT_EQ(plan->messages.size(), std::string(put) == "put" ? 40U : 20U);
  }
}

TEST(ExecutionPlan, ProvesPacketsBarriersAndSemaphores) {
  EXPECT_TRUE(parse_execution_plan(packet_plan(), "p.json").has_value());
  auto plan = parse_execution_plan(
      packet_plan("\"sem_release\", \"semaphore_ids\": [0]", "\"sem_acquire\", \"semaphore_ids\": [0]"), "p.json");
  ASSERT_TRUE(plan.has_value()) << render(plan.error());
  ASSERT_EQ(plan->gpus[0].blocks[1].ops[0].after.size(), 1U);
  EXPECT_EQ(plan->gpus[0].blocks[1].ops[0].after[0].op, 1);  // the release follows the packets
}

// Groups of two thread blocks share every chunk: half each.
TEST(ExecutionPlan, GroupsOfThreadBlocksShareChunks) {
  std::string text = read_all_plan(2);
  const std::string whole = "\"reduce_op\": \"sum\"";
  auto plan = parse_execution_plan(text, "p.json");
  ASSERT_TRUE(plan.has_value());
  EXPECT_EQ(plan->units_per_chunk, 1);
  const std::string half = replaced(text, whole, whole + ", \"tbg_info\": {\"tb_id\": 0, \"tbg_size\": 2}");
  EXPECT_THAT(mistake(half), HasSubstr("wrong data in chunk 0"));  // no block processes the other half
}

TEST(ExecutionPlan, RefusesWaitsWithoutSignals) {
  EXPECT_THAT(mistake(replaced(read_all_plan(2), "\"name\": \"signal\"", "\"name\": \"nop\"")),
              HasSubstr("waits for a signal that is never sent"));
  EXPECT_THAT(mistake(replaced(read_all_plan(2), "\"name\": \"wait\"", "\"name\": \"nop\"")),
              HasSubstr("sends a signal that nobody waits for"));
}

// Semaphores that are acquired by those who should release them.
TEST(ExecutionPlan, RefusesWhatNeverRuns) {
  const std::string text =
      packet_plan("\"sem_acquire\", \"semaphore_ids\": [0]", "\"sem_acquire\", \"semaphore_ids\": [0]");
  EXPECT_THAT(mistake(text), HasSubstr("semaphore 0 is"));
  const std::string other = packet_plan("\"nop\"", "\"sem_acquire\", \"semaphore_ids\": [0]");
  EXPECT_THAT(mistake(other), HasSubstr("semaphore 0 is never released"));
}

TEST(ExecutionPlan, RefusesPacketsThatAreNeverWritten) {
  EXPECT_THAT(mistake(replaced(packet_plan(), "\"name\": \"ppkt\"", "\"name\": \"put\"")),
              HasSubstr("reads packets that are never written"));
}

TEST(ExecutionPlan, RefusesAWrongResult) {
  // GPU 0 copies instead of adding.
  EXPECT_THAT(mistake(replaced(read_all_plan(3), "\"rres\"", "\"copy\"")), HasSubstr("wrong data in chunk"));
}

// In place the part of GPU 1 is the last of two chunks, of an all-gather and of a reduce-scatter: no chunk follows it.
TEST(ExecutionPlan, InPlaceAPartEndsWithTheWholeBuffer) {
  const auto plan = [](std::string_view collective, int inputs, int outputs, char type) {
    std::string gpus;
    for (int gpu = 0; gpu < 2; ++gpu) {
      gpus += fmt::format(
          "{}{{\"id\": {}, \"input_chunks\": {}, \"output_chunks\": {},\n\"threadblocks\": [{{\"id\": 0, \"ops\": ["
          "{{\"name\": \"copy\", \"src_buff\": [{}], \"dst_buff\": [{}]}}]}}]}}",
          gpu > 0 ? ",\n" : "", gpu, inputs, outputs, local(type, 1), local(type, 1));
    }
    return plan_text(collective, "Simple", gpus);
  };
  const auto refusal = HasSubstr("chunks 1 to 1 are out of range: the buffer has 1");
  EXPECT_THAT(mistake(plan("allgather", 1, 2, 'i')), refusal);
  EXPECT_THAT(mistake(plan("reducescatter", 2, 1, 'o')), refusal);
}

TEST(ExecutionPlan, ReportsUnsupportedOperations) {
  EXPECT_THAT(mistake(replaced(read_all_plan(2), "\"rres\"", "\"glres\"")), HasSubstr("NVSwitch"));
  EXPECT_THAT(mistake(replaced(read_all_plan(2), "\"rres\"", "\"pipeline\"")),
              HasSubstr("loops over parts of a chunk"));
  EXPECT_THAT(mistake(replaced(read_all_plan(2), "\"rres\"", "\"rses\"")), HasSubstr("is not an operation of MSCCL++"));
  EXPECT_THAT(mistake(replaced(read_all_plan(2), "\"channel_type\": \"memory\"", "\"channel_type\": \"switch\"")),
              HasSubstr("switch channels"));
}

TEST(ExecutionPlan, ReportsTheLineAndTheValue) {
  const std::string text = replaced(read_all_plan(2), "\"index\": 1", "\"index\": 9");
  EXPECT_THAT(mistake(text), HasSubstr("chunks 9 to 9 are out of range: the buffer has 2"));
  EXPECT_THAT(mistake(text), HasSubstr("p.json:"));
  EXPECT_THAT(mistake(replaced(read_all_plan(2), "\"allreduce\"", "\"allreduced\"")),
              HasSubstr("collective is 'allreduced'"));
  EXPECT_THAT(mistake(replaced(read_all_plan(2), "\"id\": 1", "\"id\": 2")), HasSubstr("GPU 1 is expected here"));
  EXPECT_THAT(mistake(replaced(read_all_plan(2), "\"input_chunks\": 2", "\"input_chunks\": -2")),
              HasSubstr("whole number"));
  EXPECT_THAT(mistake("{\"name\": \"x\"}"), HasSubstr("there is no 'collective'"));
  EXPECT_THAT(mistake(plan_text("allreduce", "LL", "")), HasSubstr("there are no GPUs"));
  EXPECT_THAT(mistake(replaced(read_all_plan(2), "\"scratch_chunks\": 0", "\"scratch_chunks\": 70000")),
              HasSubstr("whole number from 0 to 65536"));
  EXPECT_THAT(mistake(replaced(port_plan(2, "pws"), "\"src_buff\"", "\"srcs\"")),
              HasSubstr("needs src_buff and dst_buff"));
}

}  // namespace
}  // namespace ringwright::collectives::execution_plan_test
