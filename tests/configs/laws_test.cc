// Relations that must hold between two scenarios that differ in one setting, whatever the numbers are.
#include <cmath>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::laws_test {
namespace {

std::string job(const std::string& parallel, const std::string& cluster) {
  return std::string(kTinyModel) + "training: {global_batch: 32}\nparallel: {" + parallel + "}\ncluster: {nodes: 4, " +
         cluster + "}\ncompute: {model: roofline}\n";
}

// Kernels of collectives take no time either: wires alone.
const std::string kWiresAlone = "collectives.overhead=none";

// --- speed ---

// Numbers of the machine's wires, `speed` times as fast. Arithmetic takes no time.
std::string wires(const std::string& type, double speed) {
  const auto rate = [&](double gigabytes) { return fmt::format("{}GB/s", gigabytes * speed); };
  const auto time = [&](double nanoseconds) { return fmt::format("{}ns", nanoseconds / speed); };
  return fmt::format(
      "node: {{preset: dgx-h100, gpu: {{kernel_launch: 0us, memory_bandwidth: 1000000000TB/s, "
      "peak: {{bf16: 1000000PFLOPS, fp32: 1000000PFLOPS}}}}, "
      "nvlink: {{bandwidth: {}, latency: {}}}, pcie: {{bandwidth: {}, latency: {}, socket_bandwidth: {}, "
      "socket_latency: {}}}, nic: {{bandwidth: {}, latency: {}}}, memory: {{bandwidth: {}}}}}, "
      "fabric: {{type: {}, leaf: {{ports: 16, speed: {}}}, spine: {{ports: 16, speed: {}}}, "
      "latency: {{nic: {}, hop: {}, cable: {}}}}}",
      rate(450), time(500), rate(63), time(150), rate(22), time(150), rate(50), time(600), rate(300), type, rate(50),
      rate(50), time(600), time(230), time(50));
}

TEST(Speed, TwiceTheBandwidthAndHalfTheLatencyHalveACommunicationOnlyStep) {
  for (const char* type : {"rail_optimized", "fat_tree", "rail_only"}) {
    for (const char* parallel : {"tp: 8, dp: auto", "tp: 4, pp: 4, dp: auto, zero: {stage: 1}", "dp: auto"}) {
      for (const std::string_view network : {"flow", "alpha_beta"}) {
        if (network == "alpha_beta" && std::string_view(type) != "fat_tree") continue;
        const std::string override = "simulate.network=" + std::string(network);
        const Duration slow = play(load(job(parallel, wires(type, 0.01)), {override, kWiresAlone})).time();
        const Duration fast = play(load(job(parallel, wires(type, 0.02)), {override, kWiresAlone})).time();
        // Every event rounds to a picosecond; on slow wires that vanishes.
        EXPECT_NEAR(to_seconds(fast) / to_seconds(slow), 0.5, 1e-6) << type << " " << parallel << " " << network;
      }
    }
  }
}

TEST(Speed, AFasterGpuNeverMakesAStepLonger) {
  const std::string machine = "node: {preset: dgx-h100}, fabric: {type: rail_optimized}";
  for (const char* parallel : {"tp: 8, dp: auto", "pp: 8, dp: auto", "tp: 2, pp: 2, dp: auto, zero: {stage: 1}"}) {
    const Duration slow = play(load(job(parallel, machine))).time();
    const Duration fast = play(load(job(parallel, machine), {"cluster.node.gpu.peak.bf16=2000TFLOPS",
                                                             "cluster.node.gpu.memory_bandwidth=7000GB/s",
                                                             "cluster.node.gpu.kernel_launch=1us"}))
                              .time();
    EXPECT_LE(fast, slow) << parallel;
    EXPECT_GT(fast * 2, slow / 2) << parallel;  // and is no more than twice as fast, with room for rounding
  }
}

TEST(Speed, SharingLinksNeverMakesAStepShorter) {
  const std::string machine = "node: {preset: dgx-a100}, fabric: {type: fat_tree, leaf: {ports: 16}}";
  for (const char* parallel : {"tp: 8, dp: auto", "tp: 4, pp: 4, dp: auto", "dp: auto, zero: {stage: 1}"}) {
    const Duration alone = play(load(job(parallel, machine), {"simulate.network=alpha_beta"})).time();
    const Duration shared = play(load(job(parallel, machine), {"simulate.network=flow"})).time();
    EXPECT_GE(shared, alone) << parallel;
  }
}

// Not so with hashed routes: there, fewer uplinks may happen to collide less.
TEST(Speed, OversubscriptionNeverMakesAStepShorter) {
  for (const char* policy : {"static", "d_mod_k", "spray"}) {
    for (const char* parallel : {"tp: 4, pp: 4, dp: auto", "dp: auto"}) {
      const auto time = [&](const char* ratio) {
        return play(load(job(parallel, fmt::format("node: {{preset: dgx-a100}}, fabric: {{type: fat_tree, "
                                                   "scalable_unit: 1, leaf: {{ports: 16, oversubscription: \"{}\"}}, "
                                                   "spine: {{ports: 64}}, routing: {{policy: {}}}}}",
                                                   ratio, policy))))
            .time();
      };
      EXPECT_GE(time("2:1"), time("1:1")) << policy << " " << parallel;
    }
  }
}

TEST(Speed, OversubscriptionOfTwoDoublesTheTimeOfTrafficThatFillsTheUplinks) {
  // Eight data-parallel rings, one for each rail position, leave each host together: with 8 uplinks for 8 NICs each has
  // its own; with 4, two share one. Spraying distributes them evenly; NVLink and arithmetic are free.
  const auto time = [](const char* ratio) {
    return play(load(job("tp: 8, dp: auto",
                         fmt::format("node: {{preset: dgx-a100, nic: {{efficiency: 100%}}}}, fabric: {{type: fat_tree, "
                                     "scalable_unit: 1, leaf: {{ports: 16, oversubscription: \"{}\"}}, "
                                     "spine: {{ports: 64}}, routing: {{policy: spray}}, "
                                     "latency: {{nic: 0us, hop: 0us, cable: 0us}}}}",
                                     ratio)),
                     {"collectives.dp.algorithm=ring", "cluster.node.pcie.latency=0us", kWiresAlone}))
        .in_flight(0, "dp");
  };
  EXPECT_NEAR(to_seconds(time("2:1")) / to_seconds(time("1:1")), 2.0, 1e-6);
}

// --- determinism ---

// Four hosts of a rail-optimised cluster with random-looking routes, so that the seed matters.
std::string hashed() {
  return job("tp: 4, pp: 2, dp: auto, zero: {stage: 1, overlap_grad_reduce: true, bucket: 1MiB}",
             "node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, leaf: {ports: 4}, "
             "spine: {ports: 64}, routing: {policy: ecmp, hash_seed: 3}}");
}

struct Result {
  std::string metrics;
  std::string breakdown;
  std::string links;
  std::uint64_t fingerprint = 0;
  friend bool operator==(const Result&, const Result&) = default;
};

Result run_once(const std::string& text) {
  const Scenario scenario = load(text);
  const Outcome outcome = simulate(scenario, *assemble(scenario));
  if (!outcome.report) throw std::runtime_error("stalled");
  const std::string json = render_json(*outcome.report);
  return {.metrics = json_part(json, "metrics"),
          .breakdown = json_part(json, "breakdown"),
          .links = json_part(json, "links"),
          .fingerprint = play(scenario).fingerprint};
}

TEST(Determinism, OneScenarioGivesOneResult) {
  const Result first = run_once(hashed());
  EXPECT_NE(first.metrics.find("step_time_s"), std::string::npos);
  EXPECT_NE(first.links, "");
  EXPECT_EQ(run_once(hashed()), first);
}

TEST(Determinism, RunsBeforeItDoNotMatter) {
  const Result first = run_once(hashed());
  static_cast<void>(run_once(job("tp: 8, dp: auto", "node: {preset: dgx-a100}, fabric: {type: torus, dims: [4]}")));
  EXPECT_EQ(run_once(hashed()), first);
}

TEST(Determinism, ConcurrentRunsDoNotMatter) {
  const Result first = run_once(hashed());
  std::vector<Result> results(2);
  {
    std::vector<std::jthread> threads;
    for (Result& result : results) threads.emplace_back([&result] { result = run_once(hashed()); });
  }
  EXPECT_EQ(results[0], first);
  EXPECT_EQ(results[1], first);
}

TEST(Determinism, AnotherHashSeedIsAnotherNetwork) {
  std::string other = hashed();
  other.replace(other.find("hash_seed: 3"), 12, "hash_seed: 4");
  const Played one = play(load(hashed()));
  const Played two = play(load(other));
  ASSERT_EQ(one.usage.size(), two.usage.size());
  std::size_t different = 0;
  for (std::size_t link = 0; link < one.usage.size(); ++link) {
    if (std::abs(one.usage[link].bytes - two.usage[link].bytes) > 1.0) ++different;
  }
  EXPECT_GT(different, 0U);
}

TEST(Determinism, EveryStepOfARunIsAsLongAsTheNext) {
  // Nothing is random and nothing is left over: after warm-up, each step repeats the previous one.
  const Played played = play(
      load(job("tp: 8, dp: auto", "node: {preset: dgx-h100}, fabric: {type: rail_optimized}"), {"simulate.steps=4"}));
  const auto& ends = played.record.iteration_end;
  ASSERT_EQ(ends.size(), 4U);
  EXPECT_EQ(ends[3] - ends[2], ends[2] - ends[1]);
  EXPECT_EQ(ends[2] - ends[1], ends[1] - ends[0]);
}

}  // namespace
}  // namespace ringwright::configs::laws_test
