// Probing a scenario's fabric: times to localise, false negatives and positives.
#include "configs/simulation/probe_study.h"

#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs::probe_study_test {
namespace {

using testing::HasSubstr;

// 8 hosts with 8 NICs, two to a leaf, one uplink for each NIC: 64 cables of NICs and 64 uplinks, 128 paths.
std::string scenario_text(std::string_view faults, std::string_view probing,
                          std::string_view fabric = "rail_optimized") {
  return std::string(kTinyModel) +
         fmt::format(
             "training: {{global_batch: 64}}\nparallel: {{dp: auto}}\n"
             "cluster: {{nodes: 8, node: {{preset: dgx-h100}}, fabric: {{type: {}, scalable_unit: 2}}}}\n"
             "faults: [{}]\nprobing: {{{}}}\n",
             fabric, faults, probing);
}

ProbeStudy study(std::string_view faults, std::string_view probing) {
  const Scenario scenario = load(scenario_text(faults, probing));
  return study_probes(scenario, scenario.probing).value();
}

// The acceptance check: every link that is down is found in the first round that it is down in, and no other.
TEST(ProbeStudy, FindsEveryLinkThatIsDown) {
  const ProbeStudy found = study("", "cables: 1000, repetitions: 2");
  EXPECT_EQ(found.cables, 128U);
  EXPECT_EQ(found.paths, 128U);
  EXPECT_EQ(found.uncovered, 0U);
  EXPECT_EQ(found.tried, 256U);
  EXPECT_EQ(found.localised, 256U);
  EXPECT_EQ(found.missed_cables, 0U);
  EXPECT_EQ(found.wrong_cables, 0U);
  // A round: 2 paths of a port x 100 probes x 1 ms. At most a round and the analysis, but for faults that begin less
  // than half a probe before the end of a round.
  EXPECT_DOUBLE_EQ(found.round_seconds, 0.2);
  EXPECT_GT(found.seconds.front(), 1.0);
  EXPECT_LT(found.quantile_seconds(0.95), 1.2 + 1e-9);
  EXPECT_NEAR(found.mean_seconds(), 1.1, 0.02);  // half a round in the mean
}

// A loss of p is met by one of n probes with 1 - (1 - p)^n: with few probes it takes several rounds.
TEST(ProbeStudy, TakesLongerForSmallLosses) {
  const std::string more = "interval: 10us, analysis: 0s, rounds: 1000, repetitions: 3";
  const ProbeStudy large = study("", more + ", loss: 10%");
  const ProbeStudy small = study("", more + ", loss: 0.5%");
  EXPECT_EQ(large.localised, large.tried);
  EXPECT_GT(small.mean_seconds(), large.mean_seconds());
}

TEST(ProbeStudy, CountsWhatIsMissedAndWrong) {
  // A loss of 0.2 % in a single round of 10 probes is nearly always missed.
  const ProbeStudy few = study("", "probes_per_path: 10, rounds: 1, loss: 0.2%");
  EXPECT_LT(few.localised, few.tried / 4);
  EXPECT_EQ(few.missed_cables, few.tried - few.localised);
}

TEST(ProbeStudy, TriesTheListedFaultsTogether) {
  const ProbeStudy found =
      study("{link: leaf0.0->spine0, lane: 0, at: 1ms}, {nic: host3/nic2, at: 2ms}", "repetitions: 5");
  EXPECT_EQ(found.faults.size(), 2U);
  EXPECT_EQ(found.tried, 5U);
  EXPECT_EQ(found.localised, 5U);
  EXPECT_EQ(found.wrong_cables, 0U);
  const ProbeStudy lossy = study("{nic: host3/nic2, state: lossy, loss: 20%}", "repetitions: 5");
  EXPECT_EQ(lossy.localised, 5U);
  // All uplinks of a leaf are down: nothing distinguishes that from a leaf that is down, which has two more cables.
  const ProbeStudy uplinks = study("{link: leaf0.0->spine0, at: 1ms}", "repetitions: 5");
  EXPECT_EQ(uplinks.localised, 5U);
  EXPECT_EQ(uplinks.wrong_cables, 5U * 2U);
  // All cables of the leaf are localised, though its uplinks have no other paths.
  const ProbeStudy leaf = study("{switch: leaf0.0, at: 1ms}", "repetitions: 5");
  EXPECT_EQ(leaf.localised, 5U);
  EXPECT_EQ(leaf.wrong_cables, 0U);
  EXPECT_GE(leaf.switches, 5U);
  const ProbeStudy degraded =
      study("{nic: host3/nic2, state: degraded, factor: 0.5}, {nic: host4/nic2, at: 2ms}", "repetitions: 5");
  EXPECT_EQ(degraded.degraded, 2U);
  EXPECT_EQ(degraded.localised, 5U);
}

TEST(ProbeStudy, RepeatsWithTheSameSeed) {
  const std::string few = "probes_per_path: 20, loss: 2%, rounds: 3";
  EXPECT_EQ(study("", few).seconds, study("", few).seconds);
  EXPECT_NE(study("", few).seconds, study("", few + ", seed: 2").seconds);
}

TEST(ProbeStudy, RefusesWhatCannotBeProbed) {
  const auto refusal = [](const std::string& text) {
    const Scenario scenario = load(text);
    const auto result = study_probes(scenario, scenario.probing);
    return result ? std::string("none") : render(result.error());
  };
  EXPECT_THAT(refusal(scenario_text("{nic: host0/nic0}", "")), HasSubstr("E641"));
  // Nothing is lost, so nothing can be localised.
  for (const char* const fault :
       {"{node: 3, compute_scale: 0.8}", "{link: leaf0.0->spine0, state: degraded, factor: 0.5}",
        "{link: leaf0.0->spine0, at_step: 2.5}"}) {
    EXPECT_THAT(refusal(scenario_text(fault, "")), HasSubstr("E641")) << fault;
  }
  std::string torus = scenario_text("", "", "torus");
  torus.replace(torus.find("scalable_unit: 2"), 16, "dims: [2, 4]");
  EXPECT_THAT(refusal(torus), HasSubstr("E640"));
  EXPECT_THAT(refusal_of(scenario_text("", "rounds: 0")), HasSubstr("probing.rounds"));
  EXPECT_THAT(refusal_of(scenario_text("", "interval: 0s")), HasSubstr("probing.interval"));
  EXPECT_THAT(refusal_of(scenario_text("", "loss: 200%")), HasSubstr("probing.loss"));
}

}  // namespace
}  // namespace ringwright::configs::probe_study_test
