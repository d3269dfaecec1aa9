#include "traces/nccl_tests/nccl_tests_json.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::traces::nccl_tests_json_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kResults =
    R"("results": [{"size": 1024, "out_of_place": {"time": 14.5, "alg_bw": 0.07, "nwrong": "0"}}])";

[[nodiscard]] Result<CollectiveLogReading> read(const std::string& head, std::string_view results = kResults) {
  const std::string text = "{\"version\": 3, " + head + ", " + std::string(results) + "}";
  return read_json_log({.name = "x.json", .text = text});
}
[[nodiscard]] std::string args(const std::string& options) {
  return R"("args": ["all_reduce/build/all_gather_perf")" + options + "]";
}

TEST(NcclTestsJson, TheProgramNamesTheOperationNotItsFolder) {
  EXPECT_EQ(read(args(""))->log.operation, "all_gather");
}

TEST(NcclTestsJson, OptionsAreFoundInBothForms) {
  EXPECT_EQ(read(args(R"(, "-g", "4")"))->log.fact("gpus_per_process"), "4");
  EXPECT_EQ(read(args(R"(, "--ngpus=8")"))->log.fact("gpus_per_process"), "8");
}

TEST(NcclTestsJson, WhatChangesTheMeaningOfATimeIsReported) {
  EXPECT_THAT(render(read(args(R"(, "-m", "16")"))->warnings), HasSubstr("16 calls are launched together"));
  EXPECT_THAT(render(read(args(R"(, "--cudagraph=1")"))->warnings), HasSubstr("CUDA graphs launch the calls"));
  EXPECT_THAT(read(args(""))->warnings.all(), IsEmpty());
}

// The test lists the first device of each process: two processes with eight GPUs each are two devices.
TEST(NcclTestsJson, ADeviceStandsForAllOfItsProcess) {
  const auto devices = [](const std::string& second) {
    return R"("config": {"nthreads": 1, "ngpus": 8, "devices": [
      {"rank": 0, "group": 0, "hostname": "a", "device_info": "H100"},
      {"rank": )" +
           second + R"(, "group": 0, "hostname": "b", "device_info": "H100"}]})";
  };
  const CollectiveLog log = read(devices("8"))->log;
  EXPECT_EQ(log.ranks, 16);
  EXPECT_EQ(log.nodes, 2);
  EXPECT_EQ(log.gpus_per_node, 8);
  EXPECT_EQ(log.fact("gpus_per_process"), "8");
  EXPECT_EQ(read(devices("1"))->log.ranks, 2);  // all devices are listed
}

TEST(NcclTestsJson, OneOfSeveralGroupsIsTaken) {
  const auto split = read(R"("config": {"nthreads": 1, "ngpus": 1, "devices": [
      {"rank": 0, "group": 0, "hostname": "a"}, {"rank": 1, "group": 1, "hostname": "a"},
      {"rank": 2, "group": 0, "hostname": "b"}, {"rank": 3, "group": 1, "hostname": "b"}]})");
  EXPECT_EQ(split->log.ranks, 2);
  EXPECT_EQ(split->log.nodes, 2);
  EXPECT_THAT(render(split->warnings), HasSubstr("the ranks form 2 groups"));
}

TEST(NcclTestsJson, TheConfigurationStatesWhatChangesTheMeaningOfATime) {
  const auto said = [](const std::string& option) {
    return render(read("\"config\": {" + option + "}, " + args(""))->warnings);
  };
  EXPECT_THAT(said(R"("blocking_collectives": "true")"), HasSubstr("waits for the end of each call"));
  EXPECT_THAT(said(R"("aggregated_iterations": 4)"), HasSubstr("4 calls are launched together"));
  EXPECT_THAT(said(R"("graph": 1)"), HasSubstr("CUDA graphs launch the calls"));
  EXPECT_THAT(said(R"("blocking_collectives": "false", "aggregated_iterations": 1, "graph": 0)"),
              HasSubstr("0 errors, 0 warnings"));
}

TEST(NcclTestsJson, WrongValuesAreReported) {
  const auto wrong = read(args(""), R"("results": [{"size": 1024, "out_of_place": {"time": 14.5, "nwrong": "3"}}])");
  EXPECT_THAT(render(wrong->warnings), HasSubstr("the row of 1024 bytes has wrong values"));
}

TEST(NcclTestsJson, TheProcessorsTimesAreRefused) {
  const auto refused = read(args(""), R"("results": [{"size": 1024, "out_of_place": {"cpu_time": 2.5}}])");
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(render(refused.error()), HasSubstr("the times are those that the processor took"));
}

TEST(NcclTestsJson, VariablesOfLibfabricAreKeptAndPathsAreNot) {
  const auto log = read(R"("env": ["FI_CXI_RX_MATCH_MODE=software", "NCCL_TOPO_FILE=x/t.xml", "USER=x"])");
  EXPECT_EQ(log->log.fact("env"), "FI_CXI_RX_MATCH_MODE=software");
}

TEST(NcclTestsJson, GpusOfTwoKindsAreBothKnown) {
  const auto log = read(
      R"("config": {"devices": [{"hostname": "a", "device_info": "H100"}, {"hostname": "b", "device_info": "A100"}]})");
  EXPECT_EQ(log->log.gpu, "H100");
  EXPECT_EQ(log->log.fact("other_gpu"), "A100");
}

}  // namespace
}  // namespace ringwright::traces::nccl_tests_json_test
