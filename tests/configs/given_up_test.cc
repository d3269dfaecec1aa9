// Links that stay down: NICs stall, and give up after their time (NCCL_IB_TIMEOUT, NCCL_IB_RETRY_CNT).
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::given_up_test {
namespace {

using namespace literals;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

// Two hosts with one GPU and one NIC each, joined by one leaf.
std::string two_hosts(std::string_view fault) {
  return std::string(kTinyModel) + fmt::format(
                                       "training: {{global_batch: 2}}\nparallel: {{dp: auto}}\n"
                                       "cluster: {{nodes: 2, node: {{preset: dgx-h100, gpus: 1, pcie: {{switches: 1}}, "
                                       "nvlink: {{kind: none}}, nic: {{count: 1}}}}, fabric: {{type: fat_tree}}}}\n"
                                       "faults: [{}]\n",
                                       fault);
}

Outcome outcome_of(const std::string& text, const std::vector<std::string>& settings, FoldMode fold = FoldMode::kFold) {
  const Scenario scenario = load(text, settings);
  auto outcome = simulate(scenario, fold);
  if (!outcome) throw std::runtime_error(render(outcome.error()));
  return std::move(*outcome);
}

constexpr const char* kFlap = "{{nic: host0/nic0, at: 1us, for: {}}}";

std::string flap(std::string_view length) {
  return two_hosts(fmt::format(fmt::runtime(kFlap), length));
}

// 4.096 us * 2^20 * 8 = 34.36 s: a flap of 10 s stalls, one of 60 s ends the job.
TEST(GivenUp, AShortFlapStallsAndALongOneEndsTheJob) {
  for (const char* rung : {"steps", "chunks"}) {
    for (const FoldMode fold : {FoldMode::kFold, FoldMode::kNoFold}) {
      const std::vector<std::string> settings = {std::string("collectives.model=") + rung};
      const Outcome stalled = outcome_of(flap("10s"), settings, fold);
      ASSERT_EQ(stalled.end, RunOutcome::kFinished) << rung;
      EXPECT_GT(stalled.report->step_time.mean, 10_s);
      EXPECT_LT(stalled.report->step_time.mean, 11_s);
      const Outcome ended = outcome_of(flap("60s"), settings, fold);
      ASSERT_EQ(ended.end, RunOutcome::kGivenUp) << rung;
      ASSERT_TRUE(ended.stall.broken.has_value());
      const GivenUp& transfer = ended.stall.broken->transfer;
      EXPECT_EQ(ended.stall.at - transfer.since, Duration(4'096'000) * (1 << 20) * 8);
      EXPECT_LT(transfer.since, TimePoint(1_s));
    }
  }
}

TEST(GivenUp, TellsWhoStoodWhereAndWhatGoverns) {
  const Outcome ended = outcome_of(flap("60s"), {});
  const std::string text = render(ended.stall);
  EXPECT_THAT(text, HasSubstr("sends to rank"));
  EXPECT_THAT(text, HasSubstr("is down"));
  EXPECT_THAT(text, HasSubstr("host0/nic0"));
  EXPECT_THAT(text, HasSubstr("of 'dp' (all_reduce"));
  EXPECT_THAT(text, HasSubstr("error 12 (IBV_WC_RETRY_EXC_ERR"));
  EXPECT_THAT(text, HasSubstr("NCCL_IB_TIMEOUT is 20 and NCCL_IB_RETRY_CNT is 7"));
}

// Four times the time: 137 s.
TEST(GivenUp, ALongerTimeoutSurvivesALongFlap) {
  const Outcome outcome = outcome_of(flap("60s"), {"comm.env.NCCL_IB_TIMEOUT=22"});
  ASSERT_EQ(outcome.end, RunOutcome::kFinished);
  EXPECT_GT(outcome.report->step_time.mean, 60_s);
}

// One timeout of 4.3 s.
TEST(GivenUp, WithoutRetriesAShortFlapEndsTheJob) {
  const Outcome outcome = outcome_of(flap("10s"), {"comm.env.NCCL_IB_RETRY_CNT=0"});
  ASSERT_EQ(outcome.end, RunOutcome::kGivenUp);
  EXPECT_EQ(outcome.stall.at - outcome.stall.broken->transfer.since, Duration(4'096'000) * (1 << 20));
}

// As NICs do with a local ACK timeout of 0.
TEST(GivenUp, TimeoutZeroWaitsForEver) {
  const std::string for_good = two_hosts("{nic: host0/nic0, at: 1us}");
  EXPECT_EQ(outcome_of(for_good, {}).end, RunOutcome::kGivenUp);
  EXPECT_EQ(outcome_of(for_good, {"comm.env.NCCL_IB_TIMEOUT=0"}).end, RunOutcome::kStalled);
}

TEST(GivenUp, SeveralShortFlapsAreNotOneLongOne) {
  std::string faults;
  for (int flap = 0; flap < 4; ++flap) {
    faults += fmt::format("{}{{nic: host0/nic0, at: {}s, for: 20s}}", flap == 0 ? "" : ", ", flap * 20 + flap);
  }
  // A collective of less than a second fits into a pause.
  EXPECT_EQ(outcome_of(two_hosts(faults), {}).end, RunOutcome::kFinished);
}

TEST(GivenUp, VariablesAreListedWhereNoLinkGoesDown) {
  const Outcome outcome = outcome_of(two_hosts(""), {"comm.env.NCCL_IB_TIMEOUT=22", "comm.env.NCCL_IB_RETRY_CNT=1"});
  const auto& ignored = outcome.report->facts.ignored;
  EXPECT_THAT(ignored, Contains(Field(&IgnoredKnob::path, "comm.env.NCCL_IB_TIMEOUT")));
  EXPECT_THAT(ignored, Contains(Field(&IgnoredKnob::path, "comm.env.NCCL_IB_RETRY_CNT")));
}

TEST(GivenUp, BadValuesAreRefusedWithTheirPlace) {
  for (const char* wrong : {"NCCL_IB_TIMEOUT: 32", "NCCL_IB_TIMEOUT: -1", "NCCL_IB_RETRY_CNT: 8"}) {
    const std::string text = two_hosts("") + fmt::format("comm: {{env: {{{}}}}}\n", wrong);
    const auto scenario = load_scenario_text("test.yaml", text);
    ASSERT_FALSE(scenario.has_value()) << wrong;
    EXPECT_THAT(render(scenario.error()), HasSubstr("must be a whole number from 0 to")) << wrong;
    EXPECT_THAT(render(scenario.error()), HasSubstr("test.yaml:6:")) << wrong;
  }
}

}  // namespace
}  // namespace ringwright::configs::given_up_test
