// Random training steps whose cycles do not repeat soon: a run that takes cycles in while it goes on gives what a run
// of the whole step does, to the picosecond.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/base/random.h"
#include "tests/configs/played.h"
#include "tests/configs/same_runs.h"

namespace ringwright::configs::cycles_taken_in_test {
namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(mix(seed, 0x5ca1ab1e)) {}
  [[nodiscard]] int between(int low, int high) {
    state_ = mix(state_, 1);
    return low + static_cast<int>(state_ % static_cast<std::uint64_t>(high - low + 1));
  }
  template <class Value>
  [[nodiscard]] Value one_of(std::initializer_list<Value> values) {
    return *(values.begin() + between(0, static_cast<int>(values.size()) - 1));
  }

 private:
  std::uint64_t state_;
};

std::string slow_hosts(Dice& dice) {
  std::string faults;
  const int count = dice.between(0, 2);
  for (int i = 0; i < count; ++i) {
    const int node = dice.between(0, 1) + 2 * i;
    faults += fmt::format("{}{{node: {}, compute_scale: 0.{}}}", i > 0 ? ", " : "", node, dice.between(50, 99));
  }
  return count == 0 ? "" : fmt::format("faults: [{}]\n", faults);
}

std::string random_step(std::uint64_t seed) {
  Dice dice(seed);
  const int pp = dice.one_of({2, 4});
  const int tp = dice.one_of({2, 4, 8});
  const int replicas = 32 / (tp * pp);
  const int microbatches = dice.between(20, 100);
  const char* const schedule =
      dice.one_of({"1f1b", "1f1b", "zb-h1", pp == 4 ? "interleaved-1f1b, virtual_stages: 2" : "1f1b"});
  const int batch = pp * (microbatches / pp) * replicas;
  return fmt::format(
             "model: {{num_layers: 16, hidden_size: {}, num_attention_heads: 8, num_query_groups: 8, "
             "ffn_hidden_size: 512, vocab_size: 1000, seq_length: {}}}\n"
             "training: {{global_batch: {}, micro_batch: 1}}\n"
             "parallel: {{tp: {}, pp: {}, dp: auto, schedule: {}, overlap_p2p_comm: {}{}}}\n",
             dice.one_of({256, 512}), dice.one_of({128, 256, 1024}), batch, tp, pp, schedule,
             dice.one_of({"true", "false"}),
             dice.one_of({"", "", ", zero: {stage: 1, overlap_grad_reduce: true, bucket: 64KiB}"})) +
         dice.one_of({"", "compute: {model: roofline}\n", "compute: {cuda_graphs: true}\n"}) + slow_hosts(dice) +
         fmt::format(
             "cluster: {{nodes: 4, node: {{preset: dgx-h100}}, fabric: {{type: rail_optimized, scalable_unit: 2, "
             "leaf: {{ports: 4}}, spine: {{ports: 16}}, routing: {{policy: {}}}}}}}\n"
             "collectives: {{model: {}}}\nsimulate: {{{}, network: {}}}\n",
             dice.one_of({"static", "ecmp", "d_mod_k"}), dice.one_of({"closed_form", "steps"}),
             dice.one_of({"steps: 1", "steps: 1", "steps: 2, warmup: 1"}), dice.one_of({"alpha_beta", "flow", "flow"}));
}

// Exchanges of tokens by hashed routes: flows of several stages share links, and cycles come closer to a period slowly.
std::string slowly_settling_step(std::uint64_t seed) {
  Dice dice(seed);
  const int pp = dice.one_of({2, 4, 4});
  const int microbatches = dice.between(60, 120);
  return fmt::format(
      "model: {{num_layers: 8, hidden_size: {}, num_attention_heads: 8, num_query_groups: 8, ffn_hidden_size: 512, "
      "vocab_size: 1000, seq_length: {}, num_experts: 32, moe_router_topk: {}, moe_ffn_hidden_size: 256}}\n"
      "training: {{global_batch: {}, micro_batch: 1}}\n"
      "parallel: {{pp: {}, ep: {}, etp: 1, dp: auto}}\n{}"
      "cluster: {{nodes: 8, node: {{preset: dgx-h100}}, fabric: {{type: rail_optimized, scalable_unit: 2, "
      "leaf: {{ports: 4}}, spine: {{ports: 16}}, routing: {{policy: ecmp}}}}}}\n"
      "compute: {{model: roofline}}\nsimulate: {{seed: {}}}\n",
      dice.one_of({512, 1024}), dice.one_of({512, 1024, 2048}), dice.one_of({2, 4}), microbatches * 64 / pp, pp,
      pp == 2 ? 32 : 16, slow_hosts(dice), seed);
}

struct Run {
  std::uint32_t cycles_left_out = 0;  // of the graph
  PlayedPlan played;
};

Run run(const Scenario& scenario, workload::Passes passes, const SimulateOptions& options = {}) {
  workload::StepPlan plan = plan_step(scenario, passes);
  auto simulation =
      Simulation::assemble(scenario, std::move(plan), scenario.cluster.topology->build(), FoldMode::kFold);
  if (!simulation) throw std::runtime_error(render(simulation.error()));
  return {.cycles_left_out = (*simulation)->plan().graph.cycles_left_out,
          .played = play_plan(scenario, **simulation, options)};
}

struct Outcomes {
  int repeated = 0;  // after cycles were taken in
  int whole = 0;     // all cycles were
  int soon = 0;      // repeated without them
  int unproven = 0;
};

void compare(std::uint64_t seed, Outcomes& outcomes) {
  const std::string text = fmt::format("# {}\n", seed) + random_step(seed);
  const Scenario scenario = load(text);
  const Run some = run(scenario, workload::Passes::kFewCycles);
  if (some.cycles_left_out == 0) return;
  const RunResult& result = some.played.run;
  if (result.outcome == RunOutcome::kUnproven) {
    ++outcomes.unproven;
    return;
  }
  ASSERT_EQ(result.outcome, RunOutcome::kFinished) << text;
  ASSERT_LE(result.cycles_taken_in, some.cycles_left_out) << text;
  if (result.cycles_taken_in == 0) {
    ++outcomes.soon;
  } else {
    ++(result.cycles_taken_in < some.cycles_left_out ? outcomes.repeated : outcomes.whole);
  }
  const Run all = run(scenario, workload::Passes::kAsSegments);
  EXPECT_LE(some.played.events, all.played.events * 21 / 20) << text;  // receives wait longer
  expect_equal(result.record, all.played.run.record, text);
  expect_equal(result.usage, all.played.run.usage, text);
}

// More with RINGWRIGHT_CYCLES=20000.
TEST(CyclesTakenIn, ChangeNoResultOfRandomSteps) {
  const char* const asked = std::getenv("RINGWRIGHT_CYCLES");
  const std::uint64_t cases = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 120;
  Outcomes outcomes;
  for (std::uint64_t seed = 0; seed < cases && !HasFailure(); ++seed) compare(seed, outcomes);
  RecordProperty("repeated", outcomes.repeated);
  RecordProperty("whole", outcomes.whole);
  if (asked != nullptr) {
    fmt::print("repeated {}, whole {}, soon {}, unproven {}\n", outcomes.repeated, outcomes.whole, outcomes.soon,
               outcomes.unproven);
  }
  EXPECT_LE(outcomes.unproven, static_cast<int>(cases / 100)) << "cycles can be taken in nearly always";
  EXPECT_GT(outcomes.repeated, static_cast<int>(cases / 10));
  EXPECT_GT(outcomes.whole, static_cast<int>(cases / 20));
}

// Cycles that are nearly equal, in steps of any length: they change the time of the step by no more than is reported,
// except where a change becomes larger again, and then by little. More with RINGWRIGHT_CYCLES=60.
TEST(CyclesTakenIn, ChangeAStepByLittleWhereTheyAreNearlyEqual) {
  const char* const asked = std::getenv("RINGWRIGHT_CYCLES");
  const std::uint64_t cases = asked != nullptr ? std::strtoull(asked, nullptr, 10) : 4;
  int approximate = 0, beyond = 0;
  double worst = 0.0;
  for (std::uint64_t seed = 0; seed < cases; ++seed) {
    const std::string text = fmt::format("# {}\n", seed) + slowly_settling_step(seed);
    const Scenario scenario = load(text, {"simulate.cycle_tolerance=0.0001"});
    const auto some = run(scenario, workload::Passes::kFewCycles, {.nearly_equal_after = 0});
    const RunResult& result = some.played.run;
    if (result.outcome != RunOutcome::kFinished || result.most_change == Duration(0)) continue;
    ++approximate;
    const auto all = run(scenario, workload::Passes::kAsSegments);
    const Duration time = all.played.run.record.iteration_end.back().since_start();
    const double change = to_seconds(result.record.iteration_end.back().since_start() - time);
    EXPECT_LE(to_seconds(result.most_change), 1.1e-4 * to_seconds(time)) << text;
    EXPECT_LE(std::abs(change), 2e-4 * to_seconds(time)) << text;
    if (std::abs(change) > to_seconds(result.most_change)) ++beyond;
    worst = std::max(worst, std::abs(change) / to_seconds(time));
  }
  if (asked != nullptr) fmt::print("approximate {}, beyond {}, worst {:.2e}\n", approximate, beyond, worst);
  EXPECT_GT(approximate, static_cast<int>(cases / 40));
  EXPECT_LE(beyond, 1 + approximate / 20) << "changes that grow";
}

}  // namespace
}  // namespace ringwright::configs::cycles_taken_in_test
