// A step of known times that is evaluated in program order has the results of the run of events, to the picosecond.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/base/random.h"
#include "tests/configs/played.h"

namespace ringwright::configs::timed_step_test {
namespace {

class Draw {
 public:
  explicit Draw(std::uint64_t number) : random_(number, "timed steps") {}
  template <class Value>
  [[nodiscard]] Value of(const std::vector<Value>& values) {
    return values[random_.next_below(values.size())];
  }
  [[nodiscard]] std::string flag() { return of<std::string>({"true", "false"}); }
  [[nodiscard]] std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_.next_below(static_cast<std::uint64_t>(most - least + 1)));
  }

 private:
  RandomStream random_;
};

struct Drawn {
  std::string parallel, compute, simulate, text;
};

std::string schedule_of(Draw& draw, int pp, int parts) {
  if (pp == 1) return "schedule: 1f1b";
  if (parts > 1) return fmt::format("schedule: interleaved-1f1b, virtual_stages: {}", parts);
  return "schedule: " + draw.of<std::string>({"1f1b", "1f1b", "gpipe", "zb-h1", "dualpipev"});
}

// Any layout of 32 GPUs. It may be refused: not every schedule runs every number of microbatches.
Drawn drawn(std::uint64_t number) {
  Draw draw(number);
  const int tp = draw.of<int>({1, 2, 8});
  const int pp = draw.of<int>({1, 2, 4});
  const int parts = pp > 1 ? draw.of<int>({1, 1, 2, 4}) : 1;
  const int cp = draw.of<int>({1, 1, 1, tp == 8 ? 1 : 2});
  const int replicas = 32 / (tp * pp * cp);
  const std::int64_t microbatches = parts > 1 ? pp * draw.between(1, 8) : draw.between(1, 40);
  Drawn result;
  result.parallel = fmt::format(
      "{}, cp: {}, overlap_p2p_comm: {}, zero: {{stage: {}, overlap_grad_reduce: {}}}",
      schedule_of(draw, pp, parts), cp, draw.flag(), draw.of<int>({0, 0, 1, 3}), draw.flag());
  result.compute = draw.of<std::string>({"", "compute: {model: roofline}\n", "compute: {cuda_graphs: true}\n",
                                         "compute: {host_resume: 100us}\n", "compute: {host_resume: 7us}\n"});
  result.simulate =
      draw.of<std::string>({"steps: 1", "steps: 1", "steps: 3, warmup: 1", "steps: 1, fast_forward: false"});
  const std::string faults = draw.of<std::string>({"", "", "faults: [{node: 1, compute_scale: 0.9}]\n"});
  result.text = fmt::format(
      "model: {{num_layers: 16, hidden_size: 256, num_attention_heads: 8, num_query_groups: 8, ffn_hidden_size: 512,"
      " vocab_size: {}, seq_length: 128}}\ntraining: {{global_batch: {}, micro_batch: 1, recompute: {}}}\n"
      "parallel: {{tp: {}, pp: {}, dp: auto, {}}}\n{}{}cluster: {{nodes: 4, node: {{preset: dgx-h100}}, "
      "fabric: {{type: rail_optimized, scalable_unit: 2, leaf: {{ports: 4}}, spine: {{ports: 16}}}}}}\n"
      "simulate: {{{}, network: alpha_beta}}\ncollectives: {{model: closed_form, overhead: {}}}\n",
      draw.of<int>({1000, 32000}), microbatches * replicas, draw.of<std::string>({"none", "full"}), tp, pp,
      result.parallel, result.compute, faults, result.simulate,
      draw.of<std::string>({"none", "none", "none", "kernels"}));
  return result;
}

PlayedPlan run(const Scenario& scenario, RunFigures figures) {
  workload::StepPlan plan = plan_step(scenario);
  auto simulation =
      Simulation::assemble(scenario, std::move(plan), scenario.cluster.topology->build(), FoldMode::kTimesOnly);
  if (!simulation) throw std::runtime_error(render(simulation.error()));
  return play_plan(scenario, **simulation, {.figures = figures});
}

struct Tally {
  std::uint64_t runs = 0;
  std::uint64_t evaluated = 0;
};

void compare(std::uint64_t number, Tally& tally) {
  const Drawn layout = drawn(number);
  const auto scenario = load_scenario_text("drawn", layout.text, {});
  if (!scenario) return;
  const PlayedPlan timed = run(*scenario, RunFigures::kTimes);
  const PlayedPlan played = run(*scenario, RunFigures::kAll);
  ++tally.runs;
  if (timed.events == 0) ++tally.evaluated;
  const std::string name = fmt::format("{}:\n{}", number, layout.text);
  ASSERT_EQ(timed.run.outcome, played.run.outcome) << name;
  const RunRecord& a = timed.run.record;
  const RunRecord& b = played.run.record;
  EXPECT_EQ(a.iteration_end, b.iteration_end) << name;
  EXPECT_EQ(a.finished_at, b.finished_at) << name;
  EXPECT_EQ(a.time_in, b.time_in) << name;
  EXPECT_EQ(a.sent, b.sent) << name;
  EXPECT_EQ(a.messages, b.messages) << name;
  EXPECT_EQ(a.dimension_count, b.dimension_count) << name;
}

std::uint64_t number_of_cases() {
  const char* const given = std::getenv("RINGWRIGHT_CAMPAIGN");  // NOLINT(concurrency-mt-unsafe)
  return given == nullptr ? 80 : std::strtoull(given, nullptr, 10);
}

TEST(TimedStep, EqualsTheRunOfEventsInRandomLayouts) {
  Tally tally;
  for (std::uint64_t number = 0; number < number_of_cases(); ++number) compare(number, tally);
  RecordProperty("runs", std::to_string(tally.runs));
  RecordProperty("evaluated", std::to_string(tally.evaluated));
  // The others need an order of events: strategies with other messages, hosts whose waits depend on it.
  EXPECT_GT(tally.runs, number_of_cases() / 3);
  EXPECT_GT(tally.evaluated, tally.runs / 3);
}

// What a search predicts most: interleaved stages whose few microbatches never get into a steady state.
TEST(TimedStep, EvaluatesInterleavedStages) {
  for (const char* overlap : {"true", "false"}) {
    const Scenario scenario = load(fmt::format(
        "model: {{num_layers: 16, hidden_size: 256, num_attention_heads: 8, num_query_groups: 8, ffn_hidden_size: 512,"
        " vocab_size: 1000, seq_length: 128}}\ntraining: {{global_batch: 12, micro_batch: 1}}\n"
        "parallel: {{tp: 8, pp: 4, schedule: interleaved-1f1b, virtual_stages: 4, overlap_p2p_comm: {}}}\n"
        "cluster: {{nodes: 4, node: {{preset: dgx-h100}}, fabric: {{type: fat_tree}}}}\n"
        "simulate: {{steps: 1, network: alpha_beta}}\ncollectives: {{model: closed_form}}\n",
        overlap));
    EXPECT_EQ(run(scenario, RunFigures::kTimes).events, 0U) << overlap;
    EXPECT_GT(run(scenario, RunFigures::kAll).events, 0U) << overlap;
  }
}

}  // namespace
}  // namespace ringwright::configs::timed_step_test
