#include "configs/simulation/link_sampler.h"

#include <numeric>

#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::link_sampler_test {
namespace {

std::string text_of(const std::string& parallel, int steps) {
  return std::string(kTinyModel) + "training: {global_batch: 16}\nparallel: " + parallel +
         "\ncluster: {nodes: 2, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, leaf: "
         "{ports: 16}, spine: {ports: 16}}}\ncompute: {model: roofline}\nsimulate: {steps: " +
         std::to_string(steps) + ", warmup: 0}\n";
}

Outcome outcome_of(const std::string& parallel, int steps, traces::TimelineForm form) {
  const TimelineRequest request{.ranks = {},
                                .steps = {},
                                .form = form,
                                .choice = TimelineRequest::Choice::kRoles,
                                .links = form == traces::TimelineForm::kPage};
  auto outcome = simulate(load(text_of(parallel, steps)), FoldMode::kFold, {.timeline = &request});
  if (!outcome || !outcome->report || !outcome->timeline) throw std::runtime_error("the run does not end");
  return std::move(*outcome);
}

// The mean over the intervals is what a run of one step reports for the whole run.
TEST(LinkSampler, AveragesToTheUseOfTheRun) {
  for (const char* const parallel : {"{dp: 16}", "{tp: 4, pp: 2, dp: 2}"}) {
    const Outcome outcome = outcome_of(parallel, 1, traces::TimelineForm::kPage);
    ASSERT_TRUE(outcome.timeline->links.has_value());
    const traces::LinkCurves& curves = *outcome.timeline->links;
    const std::vector<LinkTier>& tiers = outcome.report->facts.link_tiers;
    ASSERT_EQ(curves.tiers.size(), tiers.size()) << parallel;
    for (std::size_t i = 0; i < tiers.size(); ++i) {
      const std::vector<double>& mean = curves.tiers[i].mean;
      ASSERT_EQ(mean.size(), static_cast<std::size_t>(kLinkIntervals));
      EXPECT_EQ(curves.tiers[i].name, tiers[i].name);
      EXPECT_EQ(curves.tiers[i].links, tiers[i].links);
      EXPECT_NEAR(std::accumulate(mean.begin(), mean.end(), 0.0) / kLinkIntervals, tiers[i].mean, 1e-4 * tiers[i].mean)
          << parallel << " " << tiers[i].name;
      // Nothing carries more than its capacity, but for the rounding of times to picoseconds.
      for (const double use : curves.tiers[i].highest) EXPECT_LE(use, 1.0 + 1e-6);
    }
  }
}

// Sampling changes nothing: the same events and times with it and without.
TEST(LinkSampler, LeavesTheRunAsItIs) {
  const Outcome sampled = outcome_of("{tp: 4, pp: 2, dp: 2}", 2, traces::TimelineForm::kPage),
                plain = outcome_of("{tp: 4, pp: 2, dp: 2}", 2, traces::TimelineForm::kPerfetto);
  EXPECT_FALSE(plain.timeline->links.has_value());
  EXPECT_EQ(sampled.report->step_time.mean, plain.report->step_time.mean);
  ASSERT_EQ(sampled.timeline->slices.size(), plain.timeline->slices.size());
  for (std::size_t i = 0; i < plain.timeline->slices.size(); ++i) {
    EXPECT_EQ(sampled.timeline->slices[i].end, plain.timeline->slices[i].end);
  }
  EXPECT_EQ(sampled.timeline->links->start, sampled.timeline->step_start);
}

}  // namespace
}  // namespace ringwright::configs::link_sampler_test
