#include "traces/nccl_tests/rccl_tests_report.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::traces::rccl_tests_report_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// As Reporter::writeFile of rccl-tests writes them: two sizes, out of place and in place.
constexpr std::string_view kCsv =
    "numCycle,collective,nodes,ranks,ranksPerNode,gpusPerRank,size,type,redop,inplace,time,algbw,busbw,#wrong\n"
    "0,\"AllReduce\",1,16,16,1,1024,\"float\",\"sum\",0,40.500000,0.025284,0.047408,\"0\"\n"
    "0,\"AllReduce\",1,16,16,1,1024,\"float\",\"sum\",1,41.000000,0.024976,0.046829,\"0\"\n"
    "0,\"AllReduce\",1,16,16,1,2048,\"float\",\"sum\",0,42.000000,0.048762,0.091429,\"N/A\"\n"
    "0,\"AllReduce\",1,16,16,1,2048,\"float\",\"sum\",1,43.000000,0.047628,0.089302,\"N/A\"\n";

constexpr std::string_view kJson =
    "[\n"
    "{\"numCycle\":0, \"name\":\"AllGather\", \"nodes\":1, \"ranks\":2, \"ranksPerNode\":2, \"gpusPerRank\":4, "
    "\"size\":4096, \"type\":\"half\", \"redop\":\"none\", \"inPlace\":0, \"time\":30.250000, \"algBw\":0.135405, "
    "\"busBw\":0.118479, \"wrong\":\"0\"},\n"
    "{\"numCycle\":0, \"name\":\"AllGather\", \"nodes\":1, \"ranks\":2, \"ranksPerNode\":2, \"gpusPerRank\":4, "
    "\"size\":4096, \"type\":\"half\", \"redop\":\"none\", \"inPlace\":1, \"time\":31.000000, \"algBw\":0.132129, "
    "\"busBw\":0.115613, \"wrong\":\"2\"}\n"
    "]\n";

[[nodiscard]] CollectiveLogReading reading(std::string_view text) {
  auto result = read_collective_log_text("report", text);
  EXPECT_TRUE(result.has_value()) << (result ? "" : render(result.error()));
  return result ? *result : CollectiveLogReading{};
}

TEST(RcclTestsReport, ACsvHasBothTimesOfASize) {
  const CollectiveLogReading csv = reading(kCsv);
  EXPECT_EQ(csv.log.operation, "all_reduce");
  EXPECT_EQ(csv.log.ranks, 16);
  EXPECT_EQ(csv.log.fact("library"), "RCCL");
  EXPECT_EQ(csv.log.fact("gpus_per_process"), "1");
  ASSERT_EQ(csv.log.rows.size(), 2U);
  EXPECT_EQ(csv.log.rows[0].size, 1_KiB);
  EXPECT_EQ(csv.log.rows[0].out_of_place, Duration(40'500'000));
  EXPECT_EQ(csv.log.rows[0].in_place, 41_us);
  EXPECT_EQ(csv.log.rows[1].out_of_place, 42_us);
  EXPECT_THAT(csv.warnings.all(), IsEmpty());
}

// Early versions name one column less than their rows have.
TEST(RcclTestsReport, AHeadingWithoutNodesIsUnderstood) {
  const CollectiveLogReading early = reading(
      "collective, ranks, rankspernode, gpusperrank, size, type, redop, inplace, time, algbw, busbw, #wrong\n"
      "\"SendRecv\", 1, 2, 2, 8, 65536, \"float\", \"sum\", 0, 20.000000, 3.276800, 3.276800, \"0\"\n");
  EXPECT_EQ(early.log.operation, "sendrecv");
  EXPECT_EQ(early.log.ranks, 16);
  ASSERT_EQ(early.log.rows.size(), 1U);
  EXPECT_EQ(early.log.rows[0].size, 64_KiB);
  EXPECT_EQ(early.log.rows[0].out_of_place, 20_us);
}

TEST(RcclTestsReport, AJsonHasTheSameRows) {
  const CollectiveLogReading json = reading(kJson);
  EXPECT_EQ(json.log.operation, "all_gather");
  EXPECT_EQ(json.log.ranks, 8);
  ASSERT_EQ(json.log.rows.size(), 1U);
  EXPECT_EQ(json.log.rows[0].type, "half");
  EXPECT_EQ(json.log.rows[0].in_place, 31_us);
  EXPECT_THAT(render(json.warnings), HasSubstr("the row of 4096 bytes has wrong values"));
}

TEST(RcclTestsReport, GroupsAtOnceAndCutRowsAreReported) {
  std::string text(kCsv.substr(0, kCsv.find('\n') + 1));
  text += "0,\"AllToAll\",2,16,8,1,1024,\"float\",\"sum\",0,40.5,0.02,0.04,\"0\"\n0,\"AllToAll\",2,16,8";
  const CollectiveLogReading split = reading(text);
  EXPECT_EQ(split.log.operation, "alltoall");
  EXPECT_EQ(split.log.ranks, 8);
  EXPECT_THAT(render(split.warnings), HasSubstr("the test ran in 2 groups at once"));
  EXPECT_THAT(render(split.warnings), HasSubstr("is incomplete and is left out"));
}

TEST(RcclTestsReport, FilesOfSeveralTestsAreRefused) {
  std::string text(kCsv);
  text += "0,\"Broadcast\",1,16,16,1,1024,\"float\",\"sum\",0,40.5,0.02,0.04,\"0\"\n";
  const auto refused = read_collective_log_text("report", text);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(render(refused.error()), HasSubstr("the file holds several tests"));
}

TEST(RcclTestsReport, ImpossibleNumbersOfRanksAreRefused) {
  std::string text(kCsv.substr(0, kCsv.find('\n') + 1));
  text += "0,\"AllReduce\",1,1,9000000000000000000,9000000000000000000,1024,\"float\",\"sum\",0,40.5,0.02,0.04,\"0\"\n";
  const auto refused = read_collective_log_text("report", text);
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(render(refused.error()), HasSubstr("each must be at most 1000000"));
}

TEST(RcclTestsReport, OtherFormsAreNoReport) {
  EXPECT_FALSE(is_rccl_report(""));
  EXPECT_FALSE(is_rccl_report("size_bytes,time_oop_us\n8,1\n"));
  EXPECT_FALSE(is_rccl_report("{\"version\": 3, \"results\": []}"));
}

}  // namespace
}  // namespace ringwright::traces::rccl_tests_report_test
