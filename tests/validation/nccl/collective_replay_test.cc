#include "validation/nccl/collective_replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/builtin.h"
#include "validation/nccl/nccl_report.h"

namespace ringwright::validation::collective_replay_test {
namespace {

using namespace literals;
using ::testing::Contains;
using ::testing::HasSubstr;

[[nodiscard]] traces::CollectiveLog measured(std::vector<std::pair<Bytes, Duration>> times) {
  traces::CollectiveLog log;
  log.file = "all_reduce.csv";
  log.operation = "all_reduce";
  log.gpu = "NVIDIA H100";
  log.nodes = 1;
  log.gpus_per_node = 8;
  log.ranks = 8;
  log.facts["nic"] = "none";
  for (const auto& [size, time] : times) log.rows.push_back({.size = size, .out_of_place = time});
  return log;
}

[[nodiscard]] ReplayedLog replayed(const std::string& platform, std::vector<ReplayedRow> rows) {
  return {.file = platform + ".csv",
          .machine = "1 x 8 of x",
          .platform = platform,
          .profile = "",
          .operation = "all_reduce",
          .ranks = 8,
          .rows = std::move(rows)};
}

TEST(Replay, SimulatesEverySizeOfTheLogOnItsMachine) {
  const auto log = measured({{1_MiB, 40_us}, {64_MiB, 400_us}});
  const auto answers = replay_all({log, log}, {});
  ASSERT_TRUE(answers.has_value());
  ASSERT_EQ(answers->size(), 2u);
  for (const ReplayedLog& answer : *answers) {
    ASSERT_EQ(answer.rows.size(), 2u);
    EXPECT_EQ(answer.rows[0].measured, 40_us);
    EXPECT_LT(answer.rows[0].simulated, answer.rows[1].simulated);
    EXPECT_EQ(answer.platform, "dgx-h100, none");
  }
  // A 64 MiB all-reduce moves more than the buffer over 450 GB/s of NVLink unless the switches add: above 149 us / 2.
  EXPECT_GT((*answers)[0].rows[1].simulated, 75_us);
}

TEST(Replay, OverridesReachTheMachine) {
  const auto log = measured({{64_MiB, 400_us}});
  const auto fast = replay_all({log}, {});
  const auto slow = replay_all({log}, {.overrides = {"cluster.node.nvlink.bandwidth=45GB/s"}});
  ASSERT_TRUE(fast.has_value() && slow.has_value());
  EXPECT_GT((*slow)[0].rows[0].simulated, (*fast)[0].rows[0].simulated);
}

TEST(Replay, CallsTimedAloneThroughPyTorchIncludeTheHostsTime) {
  auto log = measured({{64_KiB, 40_us}, {64_MiB, 400_us}});
  const auto in_a_row = replay_all({log}, {});
  log.facts["timing"] = "alone PyTorch";
  const auto alone = replay_all({log}, {});
  ASSERT_TRUE(in_a_row.has_value() && alone.has_value());
  EXPECT_EQ((*alone)[0].rows[1].simulated, (*in_a_row)[0].rows[1].simulated + 21_us);
}

TEST(Replay, AMistakeInAnOverrideIsReported) {
  const auto answer = replay_all({measured({{1_MiB, 40_us}})}, {.overrides = {"cluster.node.nvlnk=1"}});
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(render(answer.error()), HasSubstr("--set"));
}

TEST(Replay, ALogWithoutAKnownCollectiveIsRefused) {
  auto log = measured({{1_MiB, 40_us}});
  log.operation = "hypercube";
  const auto answer = replay_all({log}, {});
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(render(answer.error()), HasSubstr("E241"));
  EXPECT_THAT(render(answer.error()), HasSubstr("these can: all_reduce, all_gather"));
}

TEST(Replay, ARefusedLogIsNamedAndTheOthersAreSimulated) {
  auto strange = measured({{1_MiB, 40_us}});
  strange.file = "tpu.csv";
  strange.gpu = "TPU v4";
  const auto answer = replay_each({measured({{1_MiB, 40_us}}), strange}, {});
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->logs.size(), 1u);
  EXPECT_EQ(answer->refusals, 1);
  EXPECT_THAT(render(answer->refused), HasSubstr("'tpu.csv' cannot be simulated"));
  EXPECT_THAT(render(answer->refused), HasSubstr("TPU v4"));
  EXPECT_FALSE(replay_each({strange}, {}).has_value());
}

// A file with two hosts describes hosts; how many were measured is the log's.
TEST(Replay, ALogIsSimulatedOnItsOwnNumberOfHosts) {
  const auto answer =
      replay_all({measured({{1_MiB, 40_us}})}, {.overrides = {"cluster.nodes=2"}, .cluster = std::string("dgx-h100")});
  ASSERT_TRUE(answer.has_value()) << render(answer.error());
  EXPECT_EQ((*answer)[0].machine, "1 x 8 of dgx-h100, as described");
  EXPECT_THAT((*answer)[0].notes, Contains(HasSubstr("the 1 of the log")));
}

// A file describes hosts; the library's version, its variables and the threads are those of the measured run.
TEST(Replay, OnAClusterALogKeepsItsLibraryAndThreads) {
  const ReplayOptions options{.cluster = std::string("dgx-h100")};
  auto log = measured({{1_GiB, 4_ms}});
  const auto plain = replay_all({log}, options);
  log.facts["env"] = "NCCL_ALGO=Ring";
  const auto rings = replay_all({log}, options);
  ASSERT_TRUE(plain.has_value() && rings.has_value());
  EXPECT_EQ((*plain)[0].rows[0].algorithm, "nvls");
  EXPECT_EQ((*rings)[0].rows[0].algorithm, "ring");
  auto small = measured({{8_B, 13_us}});
  const auto one_thread = replay_all({small}, options);
  small.facts["gpus_per_process"] = "1";
  const auto threads = replay_all({small}, options);
  ASSERT_TRUE(one_thread.has_value() && threads.has_value());
  // As without --cluster, where one thread drives the GPUs of a single host.
  EXPECT_EQ((*one_thread)[0].rows[0].simulated, (*replay_all({measured({{8_B, 13_us}})}, {}))[0].rows[0].simulated);
  EXPECT_LT((*threads)[0].rows[0].simulated, (*one_thread)[0].rows[0].simulated);
}

// 18 trays of four GPUs are one NVLink domain of 72, not 18 of them.
TEST(Replay, TraysOfARackAreOneHostOfTheCluster) {
  auto log = measured({{1_MiB, 40_us}});
  log.gpu = "NVIDIA GB200";
  log.nodes = 18;
  log.gpus_per_node = 4;
  log.ranks = 72;
  const auto answer = replay_all({log}, {.cluster = std::string("gb200-nvl72")});
  ASSERT_TRUE(answer.has_value()) << render(answer.error());
  EXPECT_EQ((*answer)[0].machine, "1 x 72 of gb200-nvl72, as described");
}

TEST(Replay, AnotherNumberOfChannelsIsNoted) {
  auto log = measured({{1_GiB, 4_ms}});
  log.gpu = "NVIDIA A100-SXM4-40GB";  // 24 channels on eight of them
  log.facts["channels"] = "16";
  EXPECT_THAT((*replay_all({log}, {}))[0].notes, Contains(HasSubstr("has 16 channels, the simulated one 24")));
  log.facts["channels"] = "24";
  EXPECT_THAT((*replay_all({log}, {}))[0].notes, testing::Not(Contains(HasSubstr("channels"))));
}

TEST(Replay, RanksThatDoNotSpreadOverTheHostsOfAClusterAreRefused) {
  auto log = measured({{1_MiB, 40_us}});
  log.nodes = 2;
  log.ranks = 15;
  const auto answer = replay_all({log}, {.cluster = std::string("dgx-h100")});
  ASSERT_FALSE(answer.has_value());
  EXPECT_THAT(render(answer.error()), HasSubstr("over which they do not spread evenly"));
}

// What a profile states is not replaced by values of its class.
TEST(Replay, AProfileHoldsAgainstValuesOfClasses) {
  const auto log = measured({{1_GiB, 4_ms}});
  const auto by_class = replay_all({log}, {.use_profile = UseProfile::kNo});
  const auto by_profile = replay_all({log}, {.profile = std::string("dgxc-h100")});
  ASSERT_TRUE(by_class.has_value() && by_profile.has_value());
  EXPECT_NE((*by_class)[0].rows[0].simulated, (*by_profile)[0].rows[0].simulated);
}

TEST(SizeBand, CutsAtSixtyFourKibibytesAndMebibytes) {
  EXPECT_EQ(band_of(Bytes(65'535)), SizeBand::kSmall);
  EXPECT_EQ(band_of(64_KiB), SizeBand::kMiddle);
  EXPECT_EQ(band_of(64_MiB), SizeBand::kLarge);
}

TEST(CollectiveScore, ScoresBandsAndPlatformsSeparately) {
  // Platform a: 20 % too slow when small, a factor of two too fast when large; platform b: exact.
  const std::vector<ReplayedLog> logs = {replayed("a", {{.size = 8_B, .measured = 10_us, .simulated = 12_us},
                                                        {.size = 1_GiB, .measured = 8_ms, .simulated = 4_ms}}),
                                         replayed("b", {{.size = 8_B, .measured = 10_us, .simulated = 10_us}})};
  const auto scores = score_platforms(logs);
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_NEAR(scores[0].simulation[0].geometric_mean_abs, 0.2, 1e-9);
  EXPECT_EQ(scores[0].simulation[1].count, 0u);
  EXPECT_NEAR(scores[0].simulation[2].geometric_mean_abs, 1.0, 1e-9);
  EXPECT_NEAR(scores[1].simulation[0].geometric_mean_abs, 0.0, 1e-9);
  EXPECT_TRUE(within(scores[1].simulation, {0.2, 0.15, 0.1}));
  EXPECT_FALSE(within(scores[0].simulation, {0.3, 0.3, 0.9}));
}

TEST(CollectiveScore, TheFormulaIsScoredOnlyWhereThereIsOne) {
  const std::vector<ReplayedLog> logs = {
      replayed("a", {{.size = 8_B, .measured = 10_us, .simulated = 10_us, .formula = 5_us},
                     {.size = 16_B, .measured = 10_us, .simulated = 10_us}})};
  const auto scores = score_platforms(logs);
  EXPECT_EQ(scores[0].formula[0].count, 1u);
  EXPECT_NEAR(scores[0].formula[0].geometric_mean_abs, 1.0, 1e-9);
}

TEST(CollectiveTables, ReportVerdictAndRows) {
  const std::vector<ReplayedLog> logs = {replayed("a", {{.size = 8_B, .measured = 10_us, .simulated = 12_us}})};
  const std::string strict = collectives_text({.logs = logs, .limits = {0.1, 0.1, 0.1}}, RowsShown::kAll);
  EXPECT_THAT(strict, HasSubstr("FAILED: below 64 KiB 20.0 % of 10 %"));
  EXPECT_THAT(strict, HasSubstr("+20.0 %"));
  EXPECT_THAT(collectives_text({.logs = logs, .limits = {0.3, 0.1, 0.1}}, RowsShown::kNone), HasSubstr("passed"));
  EXPECT_THAT(collectives_markdown({.logs = logs}), HasSubstr("| a | 1 |"));
  EXPECT_THAT(collectives_json({.logs = logs}), HasSubstr("\"simulated_us\": 12"));
}

TEST(ValidateNccl, AMissingFileIsReported) {
  const auto outcome =
      validate_nccl({.files = {"/nowhere/all_reduce.log"}, .overrides = {}, .cluster = {}, .threshold = {}});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_THAT(render(outcome.error()), HasSubstr("E230"));
}

}  // namespace
}  // namespace ringwright::validation::collective_replay_test
