// Cycles of a pipeline that are left out of a training step change no result of a run: every time is that of the whole
// step, to the picosecond.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/plan/segments.h"
#include "tests/configs/played.h"

namespace ringwright::configs::cycles_left_out_test {
namespace {

struct Step {
  std::string parallel;  // besides tp, pp and dp
  int tp = 8;
  int pp = 4;
  int microbatches = 64;
  std::string simulate = "steps: 1";
  std::string compute;  // a section of the scenario
  std::string model;    // besides the tiny model's options
  std::string network = "alpha_beta";
  std::string collectives = "closed_form";

  [[nodiscard]] std::string name() const {
    return fmt::format("tp {} pp {} m {} {} {} {} {}", tp, pp, microbatches, parallel, simulate, compute, model);
  }
};

std::string text_of(const Step& step) {
  const int replicas = 32 / (step.tp * step.pp);
  return fmt::format(
      "model: {{num_layers: 16, hidden_size: 256, num_attention_heads: 8, num_query_groups: 8, ffn_hidden_size: 512,"
      " vocab_size: 1000, seq_length: 128{}}}\ntraining: {{global_batch: {}, micro_batch: 1}}\n"
      "parallel: {{tp: {}, pp: {}, dp: auto, {}}}\n{}cluster: {{nodes: 4, node: {{preset: dgx-h100}}, "
      "fabric: {{type: rail_optimized, scalable_unit: 2, leaf: {{ports: 4}}, spine: {{ports: 16}}}}}}\n"
      "simulate: {{{}, network: {}}}\ncollectives: {{model: {}}}\n",
      step.model, step.microbatches * replicas, step.tp, step.pp, step.parallel, step.compute, step.simulate,
      step.network, step.collectives);
}

struct Run {
  workload::StepPlan plan;
  PlayedPlan played;
};

Run run(const Scenario& scenario, workload::Passes passes) {
  workload::StepPlan plan = workload::build_step(
      {.shape = scenario.job.model, .training = scenario.job.training, .parallel = scenario.job.parallel}, passes);
  plan.graph.iterations = scenario.simulate.warmup + scenario.simulate.steps;
  auto simulation =
      Simulation::assemble(scenario, std::move(plan), scenario.cluster.topology->build(), FoldMode::kTimesOnly);
  if (!simulation) throw std::runtime_error(render(simulation.error()));
  PlayedPlan played = play_plan(scenario, **simulation, {});
  return {.plan = (*simulation)->plan(), .played = std::move(played)};
}

void expect_equal(const Run& some, const Run& all, const std::string& name) {
  const RunRecord& a = some.played.run.record;
  const RunRecord& b = all.played.run.record;
  EXPECT_EQ(a.iteration_end, b.iteration_end) << name;
  EXPECT_EQ(a.finished_at, b.finished_at) << name;
  EXPECT_EQ(a.time_in, b.time_in) << name;
  EXPECT_EQ(a.sent, b.sent) << name;
  EXPECT_EQ(a.messages, b.messages) << name;
  ASSERT_EQ(some.played.run.usage.size(), all.played.run.usage.size()) << name;
  for (std::size_t link = 0; link < all.played.run.usage.size(); ++link) {
    EXPECT_EQ(some.played.run.usage[link].busy, all.played.run.usage[link].busy) << name;
    EXPECT_NEAR(some.played.run.usage[link].bytes, all.played.run.usage[link].bytes,
                1e-9 * all.played.run.usage[link].bytes)
        << name;
  }
  EXPECT_EQ(some.plan.communication, all.plan.communication) << name;
  EXPECT_EQ(some.plan.tokens, all.plan.tokens) << name;
  EXPECT_EQ(some.plan.held_at_peak, all.plan.held_at_peak) << name;
}

// How many cycles were left out; none where the run could not prove that it is allowed.
std::uint32_t expect_exact(const Step& step, workload::Passes passes = workload::Passes::kFewCycles) {
  const Scenario scenario = load(text_of(step));
  const Run some = run(scenario, passes);
  const std::uint32_t cycles = some.plan.graph.cycles_left_out - some.played.run.cycles_taken_in;
  if (some.played.run.outcome == RunOutcome::kUnproven || cycles == 0) return 0;
  EXPECT_EQ(some.played.run.outcome, RunOutcome::kFinished) << step.name();
  const Run all = run(scenario, workload::Passes::kAsSegments);
  EXPECT_LT(some.played.events, all.played.events) << step.name();
  expect_equal(some, all, step.name());
  return cycles;
}

// The tiny model's hosts are slower than their devices: kernels of measured GPUs are the default.
TEST(CyclesLeftOut, WhereHostsWaitForTheirMessages) {
  for (const int stages : {1, 2, 4}) {
    for (const int microbatches : {40, 41, 150}) {
      const Step step{.parallel = "schedule: 1f1b", .pp = stages, .microbatches = microbatches};
      EXPECT_GT(expect_exact(step), 0U) << step.name();
    }
  }
}

TEST(CyclesLeftOut, WhereHostsRunAhead) {
  for (const char* compute : {"compute: {model: roofline}\n", "compute: {cuda_graphs: true}\n"}) {
    for (const int stages : {1, 2, 4}) {
      for (const char* schedule : {"1f1b", "zb-h1"}) {
        const Step step{.parallel = fmt::format("schedule: {}, overlap_p2p_comm: true", schedule),
                        .pp = stages,
                        .microbatches = 200,
                        .compute = compute};
        // Where kernels of some lengths need more cycles to repeat, the second try leaves some out.
        const std::uint32_t few = expect_exact(step);
        EXPECT_GT(few > 0 ? few : expect_exact(step, workload::Passes::kManyCycles), 0U) << step.name();
      }
    }
  }
}

// Microbatches from both ends, and chunks in V shape: passes of two chunks are one block.
TEST(CyclesLeftOut, OfDualPipe) {
  for (const char* schedule : {"dualpipe", "dualpipev, virtual_stages: 2"}) {
    for (const int stages : {2, 4}) {
      const Step step{.parallel = fmt::format("schedule: {}", schedule),
                      .pp = stages,
                      .microbatches = 150,
                      .compute = "compute: {model: roofline}\n"};
      EXPECT_GT(expect_exact(step), 0U) << step.name();
    }
  }
}

// The overhead of kernels for a call and for a message begins before its bytes are sent.
TEST(CyclesLeftOut, WhereCallsAndMessagesHaveOverheads) {
  for (const char* collectives : {"closed_form, overhead: kernels", "steps, overhead: kernels"}) {
    for (const char* compute : {"", "compute: {model: roofline}\n"}) {
      const Step step{.parallel = "schedule: 1f1b, overlap_p2p_comm: true",
                      .microbatches = 150,
                      .compute = compute,
                      .collectives = collectives};
      const std::uint32_t few = expect_exact(step);
      EXPECT_GT(few > 0 ? few : expect_exact(step, workload::Passes::kManyCycles), 0U) << step.name();
    }
  }
}

// Hosts of several stages that are late at different rates: it takes many cycles until they repeat.
TEST(CyclesLeftOut, WhereEveryHostGoesItsOwnPace) {
  for (const int stages : {2, 4}) {
    for (const char* schedule : {"1f1b", "zb-h1"}) {
      const Step step{
          .parallel = fmt::format("schedule: {}, overlap_p2p_comm: true", schedule), .pp = stages, .microbatches = 200};
      expect_exact(step);
      EXPECT_GT(expect_exact(step, workload::Passes::kManyCycles), 0) << step.name();
    }
  }
}

TEST(CyclesLeftOut, OfInterleavedChunks) {
  for (const char* overlap : {"true", "false"}) {
    Step step{.parallel = fmt::format("schedule: interleaved-1f1b, virtual_stages: 2, overlap_p2p_comm: {}", overlap)};
    expect_exact(step);
    step.compute = "compute: {model: roofline}\n";
    EXPECT_GT(expect_exact(step), 0U) << step.name();
  }
}

TEST(CyclesLeftOut, OfEachTrainingStepOfARun) {
  for (const char* simulate : {"steps: 3, warmup: 1", "steps: 12, warmup: 0", "steps: 2, warmup: 2"}) {
    EXPECT_GT(expect_exact({.parallel = "schedule: 1f1b", .simulate = simulate}), 0) << simulate;
  }
}

TEST(CyclesLeftOut, WhereGradientsAreSummedBehindTheLastCycle) {
  for (const char* parallel :
       {"zero: {stage: 1, overlap_grad_reduce: true, bucket: 64KiB}", "sequence_parallel: true"}) {
    for (const int stages : {2, 4}) {
      const Step step{.parallel = parallel, .tp = 4, .pp = stages};
      EXPECT_GT(expect_exact(step), 0U) << step.name();
    }
  }
}

// Collectives that are messages, each rehearsed: where nothing disturbs them, cycles can be left out as well.
TEST(CyclesLeftOut, WhereCollectivesAreRehearsed) {
  std::uint32_t cycles = 0;
  for (const char* network : {"alpha_beta", "flow"}) {
    for (const int stages : {2, 4}) {
      cycles += expect_exact({.parallel = "schedule: 1f1b", .pp = stages, .network = network, .collectives = "steps"});
    }
  }
  EXPECT_GT(cycles, 0U);
}

// Messages between stages that share the fabric with context parallelism: passes are disturbed, and every task is
// simulated.
TEST(CyclesLeftOut, WhereTasksArePlayedOneByOne) {
  std::uint32_t cycles = 0;
  for (const char* overlap : {"true", "false"}) {
    const Step step{.parallel = fmt::format("cp: 2, schedule: 1f1b, overlap_p2p_comm: {}", overlap),
                    .tp = 8,
                    .pp = 2,
                    .compute = "compute: {model: roofline}\n",
                    .network = "flow",
                    .collectives = "steps"};
    const Scenario scenario = load(text_of(step));
    ASSERT_EQ(play(scenario, FoldMode::kFold, SegmentPlay::kAtOnce).events, play(scenario).events) << "disturbed";
    cycles += expect_exact(step);
  }
  EXPECT_GT(cycles, 0U);
}

std::string part_of(const Step& step, std::string_view part, std::string_view fast_forward) {
  Step asked = step;
  asked.simulate += fmt::format(", fast_forward: {}", fast_forward);
  const auto outcome = simulate(load(text_of(asked)), FoldMode::kFold);
  if (!outcome || !outcome->report) throw std::runtime_error("it ends: " + step.name());
  return json_part(render_json(*outcome->report), part);
}

// Calls, bytes and busy links of cycles that were left out are in the report as well.
TEST(CyclesLeftOut, AreCountedInTheReport) {
  for (const char* collectives : {"closed_form", "steps"}) {
    const Step step{
        .parallel = "schedule: 1f1b", .microbatches = 100, .network = "flow", .collectives = collectives};
    for (const char* part : {"metrics", "breakdown", "collectives", "links", "memory"}) {
      const std::string whole = part_of(step, part, "false");
      EXPECT_FALSE(whole.empty()) << part;
      EXPECT_EQ(part_of(step, part, "true"), whole) << collectives << " " << part;
    }
    EXPECT_NE(part_of(step, "counters", "true").find("cycles of the pipeline fast-forwarded"), std::string::npos);
    EXPECT_EQ(part_of(step, "counters", "false").find("cycles of the pipeline fast-forwarded"), std::string::npos);
  }
}

TEST(CyclesLeftOut, NoneWhereCyclesMayDiffer) {
  const Step step{.parallel = "schedule: 1f1b", .network = "flow"};
  const auto paths = [](const std::string& text) { return passes_to_try(load(text)).size(); };
  EXPECT_EQ(paths(text_of(step)), 3U);
  EXPECT_EQ(paths(text_of(step) + "background: [{from: [0], to: [8], size: 1MB}]\n"), 1U);
  Step chunks = step;
  chunks.network = "flow";
  chunks.collectives = "chunks";
  EXPECT_EQ(paths(text_of(chunks)), 2U);  // kernels repeat soon or never
}

TEST(CyclesLeftOut, NoneOfAScheduleWithoutCycles) {
  EXPECT_EQ(expect_exact({.parallel = "schedule: gpipe"}), 0);
  EXPECT_EQ(expect_exact({.parallel = "schedule: pipedream-2bw"}), 0);
}

}  // namespace
}  // namespace ringwright::configs::cycles_left_out_test
