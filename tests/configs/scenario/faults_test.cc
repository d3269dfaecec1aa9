// Faults from YAML to the report: exact times, exact folding, and helpful refusals.
#include "configs/scenario/faults.h"

#include <memory>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::faults_test {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two hosts with one GPU and one NIC of 25 GB/s each, joined by one leaf: a ring of two all-reduces the gradients.
std::string two_hosts(std::string_view faults, std::string_view network = "flow") {
  return std::string(kTinyModel) +
         fmt::format(
             "training: {{global_batch: 2}}\nparallel: {{dp: auto}}\ncollectives: {{dp: {{algorithm: ring}}}}\n"
             "simulate: {{network: {}}}\n"
             "cluster: {{nodes: 2, node: {{preset: dgx-h100, gpus: 1, pcie: {{switches: 1, latency: 100ns}}, "
             "nvlink: {{kind: none}}, nic: {{count: 1, bandwidth: 200Gbps, efficiency: 100%, latency: 1us}}}}, "
             "fabric: {{type: fat_tree, latency: {{hop: 300ns, cable: 50ns}}}}}}\n"
             "faults:\n{}\ncompute: {{model: roofline}}\n",
             network, faults);
}

// Four hosts of 8 GPUs on 8 rails, two to a leaf; both uplinks of a leaf lead to the one spine.
std::string four_hosts(std::string_view faults) {
  return std::string(kTinyModel) +
         fmt::format(
             "training: {{global_batch: 32}}\nparallel: {{tp: 2, dp: auto}}\n"
             "collectives: {{dp: {{algorithm: halving_doubling}}}}\n"
             "cluster: {{nodes: 4, node: {{preset: dgx-h100}}, "
             "fabric: {{type: rail_optimized, rails: 8, scalable_unit: 2, leaf: {{ports: 64, speed: 400Gbps, "
             "oversubscription: \"1:1\"}}, spine: {{ports: 64, speed: 400Gbps}}}}}}\n"
             "faults: {}\n",
             faults);
}

Report report_of(const std::string& text, FoldMode fold = FoldMode::kFold) {
  const Scenario scenario = load(text);
  const auto simulation = assemble(scenario, fold);
  Outcome outcome = simulate(scenario, *simulation);
  if (!outcome.report) throw std::runtime_error("did not finish: " + render(outcome.stall));
  return std::move(*outcome.report);
}

Duration step_time(const std::string& text, FoldMode fold = FoldMode::kFold) {
  return report_of(text, fold).step_time.mean;
}

Bytes gradients(const std::string& text) {
  const Scenario scenario = load(text);
  const auto simulation = assemble(scenario);
  Bytes largest;
  for (const CollectiveSpec& spec : simulation->plan().graph.collectives) largest = std::max(largest, spec.bytes);
  return largest;
}

std::string refusal(const std::string& text) {
  const auto scenario = load_scenario_text("test.yaml", text, {});
  return scenario ? "" : render(scenario.error());
}

// --- times ---

// A ring of two takes two steps of half the buffer each, and every step now goes at 12.5 GB/s instead of 25.
TEST(FaultsFromYaml, ANicAtHalfItsBandwidthDoublesTheTimeOfTheRing) {
  const std::string healthy = two_hosts("  []");
  const Bytes half = gradients(healthy) / 2;
  const Duration longer = (transfer_time(half, Bandwidth(12.5e9)) - transfer_time(half, 25_GBps)) * 2;
  EXPECT_EQ(step_time(two_hosts("  - {nic: host0/nic0, state: degraded, factor: 0.5}")), step_time(healthy) + longer);
}

// One direction is as slow as both: each step sends in both directions, and waits for the slower.
TEST(FaultsFromYaml, OneDirectionHoldsUpTheRingAsBothDo) {
  const std::string_view link = "  - {link: host0/nic0->leaf0, state: degraded, factor: 0.5, direction: one}";
  EXPECT_EQ(step_time(two_hosts(link)), step_time(two_hosts("  - {nic: host0/nic0, state: degraded, factor: 0.5}")));
}

// Transfers that wait for the cable continue when it is back: a second later is a second longer.
TEST(FaultsFromYaml, AStepWaitsForACableUntilItIsBack) {
  const Duration one = step_time(two_hosts("  - {nic: host1/nic0, at: 0s, for: 1s}"));
  const Duration two = step_time(two_hosts("  - {nic: host1/nic0, at: 0s, for: 2s}"));
  EXPECT_GT(one, 1_s);
  EXPECT_EQ(two - one, 1_s);
  EXPECT_EQ(one, step_time(two_hosts("  - {link: leaf0->host1/nic0, state: down, for: 1s}")));
}

TEST(FaultsFromYaml, ACableThatStaysDownIsNamedWhenTheRunStalls) {
  Scenario scenario = load(two_hosts("  - {nic: host1/nic0, at: 10us}"));
  scenario.nccl.knobs.ib_timeout = 0;  // NICs never give up
  const auto simulation = assemble(scenario);
  const Outcome outcome = simulate(scenario, *simulation);
  EXPECT_EQ(outcome.end, RunOutcome::kStalled);
  EXPECT_FALSE(outcome.report.has_value());
  EXPECT_THAT(render(outcome.stall), HasSubstr("host1/nic0 down from 10 us on"));
}

// Both hosts compute the same, so the step is longer by the extra time of the slow one's kernels: the whole compute
// time.
TEST(FaultsFromYaml, AHostAtHalfSpeedAddsItsComputeTimeOnceMore) {
  const Report healthy = report_of(two_hosts("  []"));
  const Report slow = report_of(two_hosts("  - {node: 1, compute_scale: 0.5}"));
  const Duration longer = slow.step_time.mean - healthy.step_time.mean;
  EXPECT_NEAR(to_seconds(longer), to_seconds(healthy.everywhere.computing), 1e-9);
  EXPECT_THAT(slow.facts.faults, ElementsAre("host1 computes at 0.5 times its speed"));
}

// --- folding ---

// By its number, or by the name that links and NICs have.
TEST(FaultsFromYaml, NameAHostByNumberOrName) {
  const Duration by_number = step_time(four_hosts("[{node: 3, compute_scale: 0.85}]"));
  EXPECT_EQ(step_time(four_hosts("[{node: host3, compute_scale: 0.85}]")), by_number);
  EXPECT_GT(by_number, step_time(four_hosts("[]")));
}

TEST(FaultsFromYaml, FoldedAndUnfoldedRunsAgree) {
  const Duration healthy = step_time(four_hosts("[]"));
  const Duration third = healthy / 3;
  int slower = 0;
  for (const std::string& faults :
       {std::string("[{link: leaf0.0->spine0, lane: 1}]"),
        fmt::format("[{{nic: host2/nic5, at: {}ps, state: degraded, factor: 0.1}}]", third.count()),
        fmt::format("[{{link: leaf1.3->spine0, lane: 0, at: {}ps, for: {}ps}}]", third.count(), third.count()),
        std::string("[{node: 3, compute_scale: 0.85}]"),
        std::string("[{node: 3, compute_scale: 0.85}, {link: leaf0.0->spine0, lane: 0}, "
                    "{nic: host0/nic2, at: 10us, for: 1ms}]")}) {
    const Duration folded = step_time(four_hosts(faults));
    EXPECT_EQ(folded, step_time(four_hosts(faults), FoldMode::kNoFold)) << faults;
    if (folded > healthy) ++slower;
  }
  EXPECT_GE(slower, 3);
}

// --- the report ---

TEST(FaultsFromYaml, AreReportedInTheReport) {
  const Report report = report_of(two_hosts("  - {nic: host0/nic0, at: 1us, for: 2us}"));
  EXPECT_THAT(report.facts.faults, ElementsAre("host0/nic0 down from 1 us to 3 us"));
  EXPECT_THAT(render_json(report), HasSubstr("\"faults\": [\n    \"host0/nic0 down from 1 us to 3 us\"\n  ]"));
  EXPECT_THAT(render_text(report, {}), HasSubstr("Faults simulated"));
}

TEST(FaultsFromYaml, ThatBeginAfterTheEndAreWarnedAbout) {
  const Report report = report_of(two_hosts("  - {nic: host0/nic0, at: 100s}"));
  EXPECT_THAT(report.facts.faults, IsEmpty());
  ASSERT_EQ(report.facts.warnings.size(), 1U);
  EXPECT_EQ(report.facts.warnings[0].code, "E125");
  EXPECT_THAT(report.facts.warnings[0].text, HasSubstr("'host0/nic0 down from 100 s on' has no effect"));
  EXPECT_EQ(report.step_time.mean, step_time(two_hosts("  []")));
}

TEST(FaultsFromYaml, BackgroundTrafficThatBeginsAfterTheEndIsWarnedAbout) {
  const Report report = report_of(two_hosts("  []") + "background: [{from: [0], to: [1], size: 1MB, at: 100s}]\n");
  EXPECT_THAT(report.facts.faults, IsEmpty());
  ASSERT_EQ(report.facts.warnings.size(), 1U);
  EXPECT_EQ(report.facts.warnings[0].code, "E125");
  EXPECT_THAT(report.facts.warnings[0].text, HasSubstr("from 100 s on, priority low has no effect: the run ends at"));
}

TEST(FaultsFromYaml, OfLinksAreListedAsIgnoredByAModelThatPlaysNone) {
  const Report report = report_of(two_hosts("  - {nic: host0/nic0}\n  - {node: 0, compute_scale: 0.5}", "alpha_beta"));
  EXPECT_THAT(report.facts.faults, ElementsAre("host0 computes at 0.5 times its speed"));
  EXPECT_THAT(report.facts.ignored, testing::Contains(testing::Field(&IgnoredKnob::path, "faults[0].nic")));
}

// --- refusals ---

struct Refused {
  std::string fault;
  std::string message;
};

TEST(FaultsFromYaml, AreRefusedWithPlaceAndHint) {
  const std::vector<Refused> cases = {
      {"{link: leaf0->spine0}", "there is no link from 'leaf0' to 'spine0'"},
      {"{nic: host0/nic1}", "did you mean 'host0/nic0'?"},
      {"{link: host0/nic0->host1/nic0}", "there is no link from 'host0/nic0' to 'host1/nic0'"},
      {"{link: leaf0}", "a link is FROM->TO"},
      {"{link: leaf0->host1/nic0, lane: 1}", "there are 1 links 'leaf0->host1/nic0'"},
      {"{at: 1s}", "a fault is of one 'link', 'nic', 'nic_port', 'switch' or 'node', but 0 are given"},
      {"{nic: host0/nic0, node: 1}", "but 2 are given"},
      {"{nic: host0/nic0, state: degraded}", "must state the fraction of the bandwidth that is left"},
      {"{nic: host0/nic0, factor: 0.5}", "a link that is down has no factor"},
      {"{nic: host0/nic0, state: broken}", "broken"},
      {"{nic: host0/nic0, at: 5}", "E110"},
      {"{node: 2, compute_scale: 0.5}", "'faults[0].node' = 2 is none of the hosts"},
      {"{node: -1, compute_scale: 0.5}", "their numbers are 0 to 1"},
      {"{node: host2, compute_scale: 0.5}", "'faults[0].node' = host2 is none of the hosts"},
      {"{node: server1, compute_scale: 0.5}", "or write host0 to host1"},
      {"{node: 1, compute_scale: 0.5, at: 1s}", "a host is slow for the whole run"},
      {"{node: 1, compute_scale: 0.5, for: 1s}", "a host is slow for the whole run"},
      {"{node: 1, compute_scala: 0.5}", "compute_scala"},
      {"{node: 1}", "states how fast its GPUs are"},
  };
  for (const Refused& refused : cases) {
    const std::string text = refusal(two_hosts("  - " + refused.fault));
    EXPECT_THAT(text, HasSubstr(refused.message)) << refused.fault;
    EXPECT_THAT(text, HasSubstr("test.yaml:8:")) << refused.fault;
  }
}


// Formulas of collectives use links without their faults; this job has no messages that could be affected.
TEST(FaultsFromYaml, ThatNothingMeetsInClosedFormAreListedAndNotPlayed) {
  const std::string text = two_hosts("  - {nic: host0/nic0, state: degraded, factor: 0.1}");
  const Scenario scenario = load(text, {"collectives.model=closed_form"});
  const Report report = std::move(*simulate(scenario, *assemble(scenario)).report);
  EXPECT_THAT(report.facts.faults, IsEmpty());
  EXPECT_THAT(report.facts.ignored, testing::Contains(testing::Field(&IgnoredKnob::path, "faults[0].nic")));
}

TEST(FaultsFromYaml, InClosedFormAreMetByMessagesOfThePipeline) {
  const std::vector<std::string> pipeline = {"collectives.model=closed_form", "parallel.pp=2"};
  const Scenario whole = load(two_hosts("  []"), pipeline);
  const Scenario weak = load(two_hosts("  - {nic: host0/nic0, state: degraded, factor: 0.1}"), pipeline);
  const Report report = std::move(*simulate(weak, *assemble(weak)).report);
  EXPECT_GT(report.step_time.mean, simulate(whole, *assemble(whole)).report->step_time.mean);
  EXPECT_THAT(report.facts.faults, ElementsAre(HasSubstr("affects messages, not collectives")));
}

}  // namespace
}  // namespace ringwright::configs::faults_test
