// A checkpoint every N steps: the mean step, waiting for the store, and increments.
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/report/checkpoint_line.h"
#include "core/report/cost_lines.h"
#include "tests/configs/checkpoint_hosts.h"
#include "tests/configs/played.h"

namespace ringwright::configs::checkpoint_period_test {
namespace {

using testing::HasSubstr;
using testing::Not;

Report report_of(std::string_view checkpoint) {
  Result<Outcome> outcome = simulate(load(two_hosts(checkpoint)), FoldMode::kFold);
  if (!outcome || !outcome->report) throw std::runtime_error("no report");
  return std::move(*outcome->report);
}

TEST(CheckpointPeriod, SpreadsTheStallOverItsSteps) {
  const Duration healthy = report_of("").step_time.mean;
  for (const std::int64_t every : {1, 7, 1000}) {
    const Report report = report_of(fmt::format("checkpoint: {{to: host_memory, size: 1GB, every: {}}}", every));
    const CheckpointFacts& facts = *report.facts.checkpoint;
    EXPECT_EQ(facts.mean_step, (healthy * every + *facts.stall) / every) << every;
    EXPECT_EQ(facts.waits, Duration());
    EXPECT_EQ(report.step_time.mean, healthy + *facts.stall);
  }
}

// Two GPUs at 3,600 dollars an hour.
TEST(CheckpointPeriod, IsWhatAStepCosts) {
  const Report report =
      report_of("checkpoint: {to: host_memory, size: 1GB, every: 4}\ncost: {usd_per_gpu_hour: 3600}");
  const double mean = to_seconds(report.facts.checkpoint->mean_step);
  EXPECT_LT(mean, to_seconds(report.step_time.mean));
  EXPECT_DOUBLE_EQ(*cost_of(report).usd, 2.0 * mean);
  EXPECT_THAT(cost_lines(report).front(), HasSubstr("of the mean step between checkpoints"));
}

// 10 MB of a host at 5 MB/s take 2 s, and 3 steps much less: a version every 2 s, exactly.
TEST(CheckpointPeriod, IsThatOfTheStoreWhereItIsSlower) {
  const std::string storage = "to: storage, mode: async, size: 10MB, storage: {per_host: 5MB/s}";
  const Report report = report_of(fmt::format("checkpoint: {{{}, every: 4}}", storage));
  const CheckpointFacts& facts = *report.facts.checkpoint;
  EXPECT_EQ(facts.mean_step * 4, from_seconds(2.0));
  EXPECT_EQ(facts.waits, from_seconds(2.0) - (report.step_time.mean - *facts.stall) * 4 - *facts.stall);
  EXPECT_GT(facts.waits, Duration());
  EXPECT_THAT(checkpoint_line(report), HasSubstr("each waits"));
  // As many steps as the store needs, and it does not hold back training any more.
  const std::int64_t enough = 1 + from_seconds(2.0).count() / (report.step_time.mean - *facts.stall).count();
  EXPECT_EQ(report_of(fmt::format("checkpoint: {{{}, every: {}}}", storage, enough)).facts.checkpoint->waits,
            Duration());
}

TEST(CheckpointPeriod, AnIncrementHasItsShareOfBytesAndStall) {
  const CheckpointFacts whole = *report_of("checkpoint: {to: host_memory, size: 10GB}").facts.checkpoint;
  const CheckpointFacts part =
      *report_of("checkpoint: {to: host_memory, size: 10GB, incremental: 20%}").facts.checkpoint;
  EXPECT_EQ(part.of_gpu, Bytes(2'000'000'000));
  EXPECT_EQ(part.total, Bytes(4'000'000'000));
  EXPECT_NEAR(to_seconds(*part.stall), 0.2 * to_seconds(*whole.stall), 1e-3 * to_seconds(*whole.stall));
}

// Of a store that one GPU's process reaches at 1 GB/s, and that serialises at 0.5 GB/s: 1 GB takes 2 s.
TEST(CheckpointPeriod, SerialisingLimitsAStore) {
  const Report report =
      report_of("checkpoint: {to: storage, size: 1GB, storage: {per_gpu: 1GB/s, serialise: 0.5GB/s}}");
  EXPECT_NEAR(to_seconds(*report.facts.checkpoint->stall), 2.0, 1e-3);
}

TEST(CheckpointPeriod, IsStatedOnlyWhereItIsGiven) {
  const Report without = report_of("checkpoint: {to: host_memory, size: 1GB}");
  EXPECT_THAT(render_json(without), Not(HasSubstr("mean_step_s")));
  EXPECT_THAT(checkpoint_line(without), Not(HasSubstr("in the mean")));
  const Report with = report_of("checkpoint: {to: host_memory, size: 1GB, every: 10}");
  EXPECT_THAT(render_json(with), HasSubstr("\"every_steps\": 10"));
  EXPECT_THAT(checkpoint_line(with), HasSubstr("one every 10 steps"));
}

TEST(CheckpointPeriod, RefusesWhatIsNoInterval) {
  EXPECT_THAT(refusal_of(two_hosts("checkpoint: {to: host_memory, every: -1}")), HasSubstr("checkpoint.every"));
  EXPECT_THAT(refusal_of(two_hosts("checkpoint: {to: host_memory, incremental: 0}")),
              HasSubstr("checkpoint.incremental"));
  EXPECT_THAT(refusal_of(two_hosts("checkpoint: {to: host_memory, incremental: 110%}")),
              HasSubstr("checkpoint.incremental"));
}

}  // namespace
}  // namespace ringwright::configs::checkpoint_period_test
