#include "planning/tune/measured_tuner.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"

namespace ringwright::planning::measured_tuner_test {
namespace {

using namespace ringwright::literals;
using testing::HasSubstr;

// A log of an all-reduce of eight ranks with these sizes and times in us.
std::string log_of(const std::string& name, const std::string& rows, int ranks = 8) {
  const std::string path = test::own_folder() + name;
  std::ofstream(path) << "# collective: all_reduce\n# nodes: 1\n# gpus_per_node: " << ranks << "\n# ranks: " << ranks
                      << "\nsize_bytes,count,type,redop,root,time_oop_us,algbw_oop_GBps,busbw_oop_GBps,time_ip_us,"
                         "algbw_ip_GBps,busbw_ip_GBps\n"
                      << rows;
  return path;
}
std::string row(int size, double microseconds) {
  return std::to_string(size) + "," + std::to_string(size / 4) + ",float,sum,-1," + std::to_string(microseconds) +
         ",0,0,,,\n";
}

MeasuredSetting measured(const std::string& text) {
  return *parse_measured(text);
}

TEST(MeasuredTuner, ChoosesTheFastestOfTheLogs) {
  const std::string own = log_of("own.csv", row(1024, 10) + row(4096, 20) + row(16384, 40));
  const std::string ring = log_of("ring.csv", row(1024, 12) + row(4096, 12) + row(16384, 30));
  const std::string tree = log_of("tree.csv", row(1024, 8) + row(16384, 32));
  const auto result =
      tune_by_measurements({measured("own=" + own), measured("ring/simple=" + ring), measured("tree/ll/16=" + tree)});
  ASSERT_TRUE(result) << render(result.error());
  ASSERT_EQ(result->calls.size(), 3U);
  EXPECT_EQ(result->calls[0].best.algorithm, "tree");
  EXPECT_EQ(result->calls[1].best.algorithm, "ring");  // 12 us; the tree between 8 and 32: sqrt(8 x 32) = 16
  EXPECT_EQ(result->calls[2].best.algorithm, "ring");
  const auto tree_at_4k = result->calls[1].candidates[1].time;
  EXPECT_NEAR(to_seconds(tree_at_4k), 16e-6, 1e-9);
  // Up to the geometric mean of 1 and 4 KiB; without a number of channels NCCL's own.
  const std::string csv = render_tuner_csv(*result);
  EXPECT_THAT(csv, HasSubstr("allreduce,0,2048,tree,ll,16,1,8\n"));
  EXPECT_THAT(csv, HasSubstr("allreduce,2049,4294967295,ring,simple,-1,1,8\n"));
  EXPECT_THAT(render_tune_text(*result), HasSubstr("6 settings were read from logs"));
}

// 0.5 % is noise of a machine, and nothing is known of sizes that were not measured.
TEST(MeasuredTuner, KeepsTheOwnChoiceWhereNothingIsKnownToBeFaster) {
  const std::string own = log_of("own.csv", row(1024, 10) + row(4096, 20));
  const std::string ring = log_of("ring.csv", row(1024, 9.95));
  const auto result = tune_by_measurements({measured("own=" + own), measured("ring/ll=" + ring)});
  ASSERT_TRUE(result) << render(result.error());
  EXPECT_FALSE(result->calls[0].is_faster());
  EXPECT_FALSE(result->calls[1].is_faster());
  EXPECT_EQ(result->calls[1].tried, 0);
}

TEST(MeasuredTuner, RefusesLogsThatDoNotFitTogether) {
  const std::string own = log_of("own.csv", row(1024, 10));
  const std::string other = log_of("other.csv", row(1024, 10), 4);
  const auto sizes = tune_by_measurements({measured("own=" + own), measured("ring/ll=" + other)});
  ASSERT_FALSE(sizes);
  EXPECT_THAT(render(sizes.error()), HasSubstr("of 4 ranks on 1 hosts"));
  const auto without = tune_by_measurements({measured("ring/ll=" + own)});
  ASSERT_FALSE(without);
  EXPECT_THAT(render(without.error()), HasSubstr("has 0 logs of NCCL's own choice"));
}

// -N or -d all: the test goes through the sizes again.
TEST(MeasuredTuner, ASizeThatWasMeasuredTwiceIsOneCallOfItsMeanTime) {
  const std::string own = log_of("own.csv", row(1024, 10) + row(4096, 20) + row(1024, 14) + row(4096, 20));
  const std::string ring = log_of("ring.csv", row(1024, 11));
  const auto result = tune_by_measurements({measured("own=" + own), measured("ring/ll=" + ring)});
  ASSERT_TRUE(result) << render(result.error());
  ASSERT_EQ(result->calls.size(), 2U);
  EXPECT_EQ(result->calls[0].own_time, 12_us);
  EXPECT_EQ(result->calls[0].best.algorithm, "ring");
}

TEST(MeasuredTuner, RefusesOneLogForTwoSettings) {
  const std::string own = log_of("own.csv", row(1024, 10) + row(4096, 20));
  const auto result = tune_by_measurements({measured("own=" + own), measured("ring/ll=" + own)});
  ASSERT_FALSE(result);
  EXPECT_THAT(render(result.error()), HasSubstr("the log has the times of '" + own + "'"));
}

TEST(MeasuredTuner, PassesOnWhatIsDoubtfulAboutLogs) {
  const std::string own = log_of("own.csv", row(1024, 10) + "2048,512,float\n");
  const auto result = tune_by_measurements({measured("own=" + own)});
  ASSERT_TRUE(result) << render(result.error());
  EXPECT_THAT(render(result->warnings), HasSubstr("warning[W232]"));
}

// NCCL's own lines and JSON state the variables of a run.
TEST(MeasuredTuner, RefusesLogsOfOtherSettings) {
  const auto with = [](const std::string& name, const std::string& env) {
    const std::string path = test::own_folder() + name;
    std::ofstream(path) << "# collective: all_reduce\n# nodes: 1\n# gpus_per_node: 8\n# ranks: 8\n# env: " << env
                        << "\nsize_bytes,time_oop_us\n1024,10\n";
    return path;
  };
  const std::string plain = with("plain.csv", "NCCL_IB_HCA=mlx5"), ring = with("ring.csv", "NCCL_ALGO=Ring");
  const std::string switched = with("nvls.csv", "NCCL_ALGO=NVLSTree; NCCL_PROTO=Simple");
  const auto said = [](const std::string& own, const std::string& other) {
    const auto result = tune_by_measurements({measured("own=" + own), measured(other)});
    return result ? std::string() : render(result.error());
  };
  EXPECT_EQ(said(plain, "ring/simple=" + ring), "");
  EXPECT_EQ(said(plain, "nvlstree/simple=" + switched), "");
  EXPECT_THAT(said(plain, "tree/simple=" + ring), HasSubstr("measured with NCCL_ALGO=Ring, which is not the setting"));
  EXPECT_THAT(said(ring, "tree/simple=" + plain), HasSubstr("which is not NCCL's own choice"));
}

TEST(MeasuredTuner, ReadsSettings) {
  const MeasuredSetting setting = measured("nvlstree/simple/24=a=b.log");
  EXPECT_EQ(setting.setting.algorithm, "nvlstree");
  EXPECT_EQ(setting.setting.protocol, "simple");
  EXPECT_EQ(setting.setting.channels, 24);
  EXPECT_EQ(setting.log, "a=b.log");
  EXPECT_TRUE(measured("own=a.log").is_own());
  for (const char* text : {"ring", "ring=a", "ring/ll129=a", "rings/ll=a", "ring/ll/0=a", "ring/ll/x=a", "own="}) {
    EXPECT_FALSE(parse_measured(text)) << text;
  }
}

}  // namespace
}  // namespace ringwright::planning::measured_tuner_test
