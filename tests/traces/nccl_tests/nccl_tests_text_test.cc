#include "traces/nccl_tests/nccl_tests_text.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::traces::nccl_tests_text_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kHeading =
    "#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
constexpr std::string_view kRow =
    "     1048576        262144     float     sum      -1    36.40   28.81   50.41      0\n";
constexpr std::string_view kEnd = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 50.41\n";

[[nodiscard]] std::string started(const std::string& test) {
  return "# Collective test starting: " + test + "\n";
}
[[nodiscard]] std::string rows() {
  return std::string(kHeading) + std::string(kRow);
}

[[nodiscard]] CollectiveLogReading reading(const std::string& text) {
  auto result = read_printed_log({.name = "x.log", .text = text});
  EXPECT_TRUE(result.has_value()) << (result ? "" : render(result.error()));
  return result ? *result : CollectiveLogReading{};
}
[[nodiscard]] std::string refusal(const std::string& text) {
  const auto result = read_printed_log({.name = "x.log", .text = text});
  EXPECT_FALSE(result.has_value());
  return result ? "" : render(result.error());
}

TEST(NcclTestsText, LinesOfALauncherAreReadAsTheTestPrintedThem) {
  const std::string text = "[1,0]<stdout>:" + std::string(kHeading) + "[1,0]<stdout>:" + std::string(kRow) +
                           "[1,3]<stdout>:n1:1:1 [3] NCCL INFO NCCL_ALGO set by environment to Tree\n" +
                           "[1,3]<stdout>:n1:1:1 [3] NCCL INFO 24 coll channels, 32 p2p channels\n" +
                           "[1,0]<stdout>:# Avg bus bandwidth    : 50.41\n";
  const CollectiveLogReading result = reading(text);
  EXPECT_THAT(result.warnings.all(), IsEmpty());
  ASSERT_EQ(result.log.rows.size(), 1U);
  EXPECT_EQ(result.log.rows[0].time(), Duration(36'400'000));
  EXPECT_EQ(result.log.fact("env"), "NCCL_ALGO=Tree");
  EXPECT_EQ(result.log.fact("channels"), "24");
}

TEST(NcclTestsText, TestsOfTwoOperationsInOneFileAreRefused) {
  const std::string text =
      started("all_reduce_perf") + rows() + started("all_gather_perf") + rows() + std::string(kEnd);
  EXPECT_THAT(refusal(text), HasSubstr("x.log:6:1: error[E231]: rows of all_gather follow those of all_reduce"));
  // Nothing of the second test was measured.
  EXPECT_EQ(reading(started("all_reduce_perf") + rows() + started("all_gather_perf")).log.operation, "all_reduce");
}

TEST(NcclTestsText, TwoSimulatedRunsInOneFileAreRefused) {
  const std::string run = "# simulated cluster: dgx-h100\n# simulated ranks: 8\n" + rows();
  EXPECT_THAT(refusal(run + run), HasSubstr("x.log:5:1: error[E231]: another simulated run begins here"));
}

TEST(NcclTestsText, TheProcessorsTimesAreRefused) {
  std::string text = rows();
  text.replace(text.find("   time"), 7, "cputime");
  EXPECT_THAT(refusal(text), HasSubstr("x.log:1:1: error[E231]: the times are those that the processor took"));
}

TEST(NcclTestsText, WhatChangesTheMeaningOfATimeIsReported) {
  const auto said = [](const std::string& options) {
    return render(reading("# nThread 1 nGpus 1 minBytes 8 " + options + "\n" + rows() + std::string(kEnd)).warnings);
  };
  EXPECT_THAT(said("agg iters: 16 validation: 1 graph: 0"), HasSubstr("16 calls are launched together"));
  EXPECT_THAT(said("agg iters: 1 validation: 1 graph: 1"), HasSubstr("CUDA graphs launch the calls"));
  EXPECT_THAT(said("agg iters: 1 validation: 1 graph: 0"), HasSubstr("0 errors, 0 warnings"));
}

TEST(NcclTestsText, ATestThatWaitsForEachCallIsReported) {
  const std::string blocking = "# Blocking Enabled: wait for completion and barrier after each collective \n";
  EXPECT_THAT(render(reading(blocking + rows() + std::string(kEnd)).warnings),
              HasSubstr("x.log:1:1: warning[W234]: the test waits for the end of each call"));
}

TEST(NcclTestsText, ABandwidthBelowTheDemandedIsNoWrongValue) {
  const std::string slow = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 50.41 FAILED\n";
  EXPECT_THAT(render(reading(rows() + slow).warnings), HasSubstr("the bus bandwidth is below what the test demanded"));
}

// NCCL_TESTS_SPLIT="MOD 2": ranks 0 and 2 are one communicator, 1 and 3 another.
TEST(NcclTestsText, OneOfSeveralGroupsIsTaken) {
  std::string text;
  for (int rank = 0; rank < 4; ++rank) {
    text += "#  Rank  " + std::to_string(rank) + " Group  " + std::to_string(rank % 2) + " Pid 1 on n" +
            std::to_string(rank / 2) + " device  0 [0000:1b:00] NVIDIA H100\n";
  }
  const CollectiveLogReading result = reading(text + rows() + std::string(kEnd));
  EXPECT_EQ(result.log.ranks, 2);
  EXPECT_EQ(result.log.nodes, 2);
  EXPECT_THAT(render(result.warnings), HasSubstr("the ranks form 2 groups"));
}

// The last word of the row is missing: the others must not be taken for those of earlier columns.
TEST(NcclTestsText, ARowThatWasCutOffIsLeftOut) {
  const std::string heading =
      "#  size  count  type  redop  root  time  algbw  busbw #wrong  time  algbw  busbw #wrong\n";
  const std::string whole = "8 2 float sum 0 6.53 0.00 0.00 0 6.45 0.00 0.00 0\n";
  const std::string cut = "16 4 float sum 0 6.61 0.00 0.00 0 6.50 0.00 0.01\n";
  for (const std::string& text : {heading + whole + cut, heading + cut + whole}) {
    const CollectiveLogReading result = reading(text);
    ASSERT_EQ(result.log.rows.size(), 1U);
    EXPECT_EQ(result.log.rows[0].size, 8_B);
    EXPECT_THAT(render(result.warnings), HasSubstr("has 12 words where the heading has 13 columns; it is left out"));
  }
  // An empty column of the reduction is no cut, and rows with fewer words than the first are cut all the same.
  const std::string blank = "8 2 float 0 6.53 0.00 0.00 0 6.45 0.00 0.00 0\n";
  const std::string blank_cut = "16 4 float 0 6.61 0.00 0.00 0 6.50 0.00 0.01\n";
  const CollectiveLogReading result = reading(heading + blank + blank_cut);
  ASSERT_EQ(result.log.rows.size(), 1U);
  EXPECT_EQ(result.log.rows[0].time(), Duration(6'530'000));
}

TEST(NcclTestsText, GpusOfTwoKindsAreBothKnown) {
  const auto rank = [](int number, const std::string& gpu) {
    return "#  Rank  " + std::to_string(number) + " Group  0 Pid 1 on n1 device  0 [0000:1b:00] " + gpu + "\n";
  };
  const CollectiveLog log = reading(rank(0, "NVIDIA H100") + rank(1, "NVIDIA A100-SXM4-40GB") + rows()).log;
  EXPECT_EQ(log.gpu, "NVIDIA H100");
  EXPECT_EQ(log.fact("other_gpu"), "NVIDIA A100-SXM4-40GB");
}

TEST(NcclTestsText, TestsThatAreNotSimulatedKeepTheirNames) {
  for (const std::string test : {"scatter", "gather", "hypercube", "alltoallv"}) {
    EXPECT_EQ(reading(started(test + "_perf") + rows()).log.operation, test);
  }
}

}  // namespace
}  // namespace ringwright::traces::nccl_tests_text_test
