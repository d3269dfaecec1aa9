// A life of regimes against a full simulation of the same steps, in which the fault begins and ends within a step.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <ostream>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "planning/operation/goodput.h"
#include "planning/study/point.h"
#include "tests/configs/played.h"

namespace ringwright::planning::regimes_test {
namespace {

struct Case {
  std::string name;
  std::string parallel;
  std::string fault;    // what is degraded, and to what share
  std::string cluster = "rail_optimized";
};

std::ostream& operator<<(std::ostream& out, const Case& one) { return out << one.name; }

constexpr int kSteps = 80;
constexpr double kBegin = 20.37;  // healthy steps before the fault
constexpr double kLength = 30.5;  // healthy steps that it lasts

class Regimes : public testing::TestWithParam<Case> {
 protected:
  Regimes() : folder_(testing::TempDir() + "ringwright_regimes_" + GetParam().name + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
    std::ofstream(path()) << "model: {num_layers: 8, hidden_size: 1024, num_attention_heads: 8, num_query_groups: 4, "
                             "ffn_hidden_size: 4096, vocab_size: 4000, seq_length: 512}\n"
                          << fmt::format("training: {{global_batch: 64}}\nparallel: {{{}}}\n", GetParam().parallel)
                          << fmt::format("cluster: {{nodes: 4, node: {{preset: dgx-h100}}, fabric: {{type: {}, leaf: "
                                         "{{ports: 64, speed: 400Gbps}}}}}}\nsimulate: {{steps: 1, warmup: 0}}\n"
                                         "compute: {{host_issue: 4us}}\n",  // a host that keeps up
                                         GetParam().cluster);
  }
  ~Regimes() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path() const { return folder_ + "/job.yaml"; }

  // The mean of a step, in seconds.
  [[nodiscard]] double step(const std::vector<std::string>& settings) const {
    const LoadedPoint loaded = PointSource(path()).load(settings);
    EXPECT_TRUE(loaded.scenario) << loaded.point.reason;
    const Point point = simulate_point(*loaded.scenario);
    EXPECT_TRUE(point.was_simulated()) << point.reason;
    return to_seconds(point.figures.step);
  }

 private:
  std::string folder_;
};

TEST_P(Regimes, TakeTheTimeOfTheFullSimulation) {
  const double healthy = step({});
  const std::string& fault = GetParam().fault;
  const double full =
      kSteps * step({fmt::format("simulate.steps={}", kSteps),
                     fmt::format("faults=[{{{}, state: degraded, at: {}ns, for: {}ns}}]", fault,
                                 static_cast<long long>(kBegin * healthy * 1e9),
                                 static_cast<long long>(kLength * healthy * 1e9))});
  // Work is done in whole steps, the last one included: half a step less is as many.
  const auto life = goodput_text(
      "life.yaml",
      fmt::format("scenario: {}\nwork: {} us\nrepetitions: 1\ncomponents: {{link: {{per: job, hosts: 0, kind: slow, "
                  "evicts: false, times: [{} us], lasts: {} us, set: {{faults: [{{{}, state: degraded}}]}}}}}}\n",
                  path(), (kSteps - 0.5) * healthy * 1e6, kBegin * healthy * 1e6, kLength * healthy * 1e6, fault));
  ASSERT_TRUE(life) << render(life.error());
  const double wall = life->outcome.wall_hours.mean * 3600.0;
  EXPECT_GT(full, 1.01 * kSteps * healthy) << "the fault costs something";
  EXPECT_NEAR(wall, full, 0.01 * full);
  RecordProperty("error", fmt::format("{:+.3f} %", 100.0 * (wall / full - 1.0)));
}

// A checkpoint in every step, from the GPUs over the degraded NIC to the memory of other hosts: a regime of its own.
class SavingRegimes : public Regimes {};

TEST_P(SavingRegimes, TakeTheTimeOfTheFullSimulation) {
  constexpr std::string_view kSave = "to: peer_host, size: 200MB";
  const double healthy = step({});
  const std::string& fault = GetParam().fault;
  const double saving = step({fmt::format("checkpoint={{{}}}", kSave)});
  const auto nanoseconds = [&](double steps) { return static_cast<long long>(steps * saving * 1e9); };
  const auto microseconds = [&](double steps) { return fmt::format("{:.3f} us", steps * saving * 1e6); };
  const double full =
      kSteps * step({fmt::format("simulate.steps={}", kSteps), fmt::format("checkpoint={{{}}}", kSave),
                     fmt::format("faults=[{{{}, state: degraded, at: {}ns, for: {}ns}}]", fault, nanoseconds(kBegin),
                                 nanoseconds(kLength))});
  const auto life = goodput_text(
      "life.yaml",
      fmt::format("scenario: {}\nwork: {} us\nrepetitions: 1\ncheckpoint: {{tiers: {{memory: {{every: 1 steps, place: "
                  "host, load: 1 s, simulate: {{{}}}}}}}}}\ncomponents: {{link: {{per: job, hosts: 0, kind: slow, "
                  "evicts: false, times: [{}], lasts: {}, set: {{faults: [{{{}, state: degraded}}]}}}}}}\n",
                  path(), (kSteps - 0.5) * healthy * 1e6, kSave, microseconds(kBegin), microseconds(kLength), fault));
  ASSERT_TRUE(life) << render(life.error());
  // A life ends with its last step, and needs no checkpoint after it.
  const double wall = life->outcome.wall_hours.mean * 3600.0 + saving - healthy;
  EXPECT_NEAR(wall, full, 0.01 * full);
  // With the stall of the healthy step it is too short.
  const ComponentClass& link = life->operation.components.front();
  ASSERT_EQ(link.stalls.size(), 1U);
  EXPECT_GE(link.stalls.front(), life->operation.tiers.front().stall);
  RecordProperty("error", fmt::format("{:+.3f} %", 100.0 * (wall / full - 1.0)));
}

INSTANTIATE_TEST_SUITE_P(
    Cases, Regimes,
    testing::Values(Case{"data", "dp: auto", "nic: host0/nic0, factor: 0.2"},
                    Case{"data_half", "dp: auto", "nic: host2/nic3, factor: 0.5"},
                    Case{"zero1", "dp: auto, zero: {stage: 1}", "nic: host0/nic0, factor: 0.2"},
                    Case{"overlapped", "dp: auto, zero: {stage: 1, overlap_grad_reduce: true}",
                         "nic: host0/nic0, factor: 0.1"},
                    Case{"fsdp", "dp: auto, zero: {stage: 3}", "nic: host1/nic0, factor: 0.2"},
                    Case{"tensor", "tp: 8, dp: auto", "nic: host0/nic0, factor: 0.1"},
                    Case{"pipeline", "tp: 4, pp: 2, dp: auto", "nic: host0/nic0, factor: 0.1"},
                    Case{"pipeline_zero", "tp: 2, pp: 4, dp: auto, zero: {stage: 1}", "nic: host0/nic0, factor: 0.1"},
                    Case{"fat_tree", "dp: auto", "nic: host3/nic7, factor: 0.2", "fat_tree"},
                    Case{"fat_tree_fsdp", "dp: auto, zero: {stage: 3}", "nic: host0/nic0, factor: 0.2", "fat_tree"}),
    [](const auto& one) { return one.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Cases, SavingRegimes,
    testing::Values(Case{"data", "dp: auto", "nic: host0/nic0, factor: 0.2"},
                    Case{"zero1", "dp: auto, zero: {stage: 1}", "nic: host0/nic0, factor: 0.2"},
                    Case{"overlapped", "dp: auto, zero: {stage: 1, overlap_grad_reduce: true}",
                         "nic: host0/nic0, factor: 0.1"},
                    Case{"fsdp", "dp: auto, zero: {stage: 3}", "nic: host1/nic0, factor: 0.2"},
                    Case{"pipeline", "tp: 4, pp: 2, dp: auto", "nic: host0/nic0, factor: 0.1"}),
    [](const auto& one) { return one.param.name; });

}  // namespace
}  // namespace ringwright::planning::regimes_test
