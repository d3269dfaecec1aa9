// A few of the shipped measurements, against their simulation with the shipped profiles: errors that were reached must
// not grow. The whole set: `ringwright validate nccl`.
#include <algorithm>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/nccl/collective_replay.h"
#include "validation/nccl/nccl_logs.h"
#include "validation/nccl/nccl_report.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation::nccl_regression_test {
namespace {

[[nodiscard]] std::vector<traces::CollectiveLog> logs(std::initializer_list<const char*> names) {
  std::vector<std::string> files;
  for (const char* name : names) files.push_back(shipped_folder("nccl") + "/" + name);
  auto read = read_nccl_logs(files);
  EXPECT_TRUE(read.has_value());
  return read ? std::move(read->logs) : std::vector<traces::CollectiveLog>();
}

[[nodiscard]] PlatformScore played(const std::vector<traces::CollectiveLog>& measured,
                                   const ReplayOptions& options = {}) {
  const auto replayed = replay_all(measured, options);
  EXPECT_TRUE(replayed.has_value()) << (replayed ? "" : render(replayed.error()));
  return replayed ? score_all(*replayed) : PlatformScore{};
}

// Measured when the profiles were made: 1.7, 8.2 and 3.1 %.
TEST(NcclRegression, OneHostOfA100StaysAsNearAsItWas) {
  EXPECT_TRUE(within(played(logs({"superbench_a100_n1_all_reduce.csv"})).simulation, {0.03, 0.1, 0.04}));
}

// The profile was fitted on one and two hosts; for four and eight it is 14.1 and 15.9 % (10.5 and
// 15.3 with 1 us from a slot to the NIC, which these logs do not determine; InfiniBand's is 1.33 since more of its
// machines do. Predicted from two hosts without its own class values, small sizes have 16 % instead of 20). (With
// LL128, which is not for NICs behind a processor, 29; and 19 where messages did not lie in host memory as a whole in
// transit.)
TEST(NcclRegression, AProfileOfTwoHostsPredictsFourAndEight) {
  const PlatformScore score = played(logs({"abci_v100_n4_all_reduce.csv", "abci_v100_n8_all_reduce.csv"}));
  EXPECT_TRUE(within(score.simulation, {0.15, 0.17, 0.1}));
  // And is nearer than NCCL's own formula.
  EXPECT_LT(score.simulation[0].geometric_mean_abs, score.formula[0].geometric_mean_abs / 1.5);
  EXPECT_LT(score.simulation[1].geometric_mean_abs, score.formula[1].geometric_mean_abs / 1.5);
}

// Hosts of Grace Hoppers that may not cross NICs: the search's twelve slow rings make LL end where it was measured to
// end. 8.0, 14.2 and 4.2 % for four and eight hosts, fitted on one and two; with messages that all cost the
// same 9.1, 17.5 and 17.5 %.
TEST(NcclRegression, GraceHoppersChangeProtocolsWhereTheyWereMeasuredTo) {
  const PlatformScore score =
      played(logs({"alps_gh200x4_n4_allreduce_ofi1130.csv", "alps_gh200x4_n8_allreduce_ofi1130.csv"}));
  EXPECT_TRUE(within(score.simulation, {0.1, 0.16, 0.07}));
}

// RCCL's all pairs: 8.4, 12.0 and 0.5 %; with rings alone 43 and 63 %.
TEST(NcclRegression, OneHostOfMi300xUsesAllPairs) {
  EXPECT_TRUE(within(played(logs({"mi300x_n1_all_reduce.csv"})).simulation, {0.1, 0.14, 0.02}));
}

// Without a profile: 23.9, 11.0 and 2.6 % (A100, which states how many GPUs a thread drives, but no version;
// SuperBench's hosts issue calls faster than the other A100's).
TEST(NcclRegression, ClassValuesStayAsNearAsTheyWere) {
  const auto measured = logs({"superbench_a100_n1_all_reduce.csv", "superbench_a100_n1_reduce_scatter.csv",
                              "superbench_a100_n1_broadcast.csv", "superbench_a100_n1_reduce.csv"});
  EXPECT_TRUE(within(played(measured, {.use_profile = UseProfile::kNo}).simulation, {0.26, 0.13, 0.05}));
}

// Medians of machines for H100 and H200 of four owners, with one process for eight GPUs and one for each, timed in a
// row and through PyTorch: 18.5, 6.3 and 4.3 % (20.1, 11.1 and 1.6 % with constants fitted to smaller chunks of NVLS
// than NCCL's).
TEST(NcclRegression, HostsOfHopperAreOneClassHoweverTheirCallsWereIssued) {
  const auto measured =
      logs({"azure_ndh200v5_n1_all_reduce.csv", "dgxc_h100_n1_all_reduce.csv", "stas_h200_n1_all_reduce.csv",
            "stas_h200_n1_all_reduce_queued.csv", "stas_h200_n1_all_reduce_tests.csv"});
  EXPECT_TRUE(within(played(measured, {.use_profile = UseProfile::kNo}).simulation, {0.2, 0.075, 0.05}));
  // Timed one at a time by PyTorch, and queued: its profile is fitted to the one, 10.6, 8.7 and 2.0 % for the
  // other.
  EXPECT_TRUE(within(played(logs({"stas_h200_n1_all_reduce_queued.csv"})).simulation, {0.12, 0.1, 0.03}));
}

TEST(ShippedMeasurements, AllFindTheirMachineAndNameTheirSource) {
  const auto files = files_in(shipped_folder("nccl"), ".csv");
  EXPECT_GT(files.size(), 50u);
  const auto read = read_nccl_logs(files);
  ASSERT_TRUE(read.has_value()) << render(read.error());
  for (const traces::CollectiveLog& log : read->logs) {
    EXPECT_EQ(log.fact("status"), "healthy") << log.file;
    EXPECT_FALSE(log.fact("source").empty()) << log.file;
    const auto plan = plan_replay(log, {});
    EXPECT_TRUE(plan.has_value()) << log.file << "\n" << (plan ? "" : render(plan.error()));
  }
}

}  // namespace
}  // namespace ringwright::validation::nccl_regression_test
