#include "planning/search/search_space.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/known_overheads.h"
#include "configs/simulation/least_calls.h"
#include "configs/simulation/planner.h"
#include "configs/simulation/simulation.h"
#include "planning/search/least_time.h"
#include "tests/configs/played.h"
#include "workload/layout/known_layouts.h"
#include "workload/memory/known_memory.h"

namespace ringwright::planning::search_space_test {
using namespace configs;
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

constexpr std::string_view kMachine =
    "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n"
    "collectives: {model: closed_form}\nsimulate: {network: alpha_beta}\n";

Scenario tiny(const std::string& rest = "training: {global_batch: 16}\n") {
  return load(std::string(kTinyModel) + rest + std::string(kMachine));
}

std::vector<std::string> values(const SearchSpace& space, std::string_view axis) {
  for (const SearchAxis& entry : space.axes()) {
    if (entry.name == axis) return entry.values;
  }
  return {};
}

TEST(SearchSpace, HasTheValuesThatModelAndMachineAllow) {
  const Scenario scenario = tiny();
  const SearchSpace space(scenario, scenario.search);
  EXPECT_THAT(values(space, "tp"), ElementsAre("1", "2", "4", "8"));  // of 8 heads and 512 columns, on 8 GPUs
  EXPECT_THAT(values(space, "pp"), ElementsAre("1", "2", "4", "8"));  // of 8 GPUs, up to 8 layers
  EXPECT_THAT(values(space, "virtual_stages"), ElementsAre("1", "2", "4", "8"));
  EXPECT_THAT(values(space, "cp"), ElementsAre("1"));  // 128 tokens
  EXPECT_THAT(values(space, "micro_batch"), ElementsAre("1", "2", "4", "8"));
  EXPECT_THAT(values(space, "ep"), ElementsAre("1"));
  EXPECT_EQ(space.size(),
            4U * 4 * 4 * 4 * 3 * 3 * 2);  // tp, pp, virtual stages, microbatch, recompute, sharding, layers
}

TEST(SearchSpace, HasTheScenariosOwnLayoutWhereItsScheduleImpliesTwoChunks) {
  const Scenario scenario = tiny("training: {global_batch: 16}\nparallel: {pp: 2, schedule: dualpipe}\n");
  ASSERT_EQ(scenario.job.parallel.virtual_stages, 2);
  EXPECT_EQ(own_layout(scenario, SearchSpace(scenario, scenario.search).axes()).virtual_stages, 1);
  EXPECT_EQ(own_layout(scenario, {}).virtual_stages, 2);
}

TEST(SearchSpace, TriesVirtualStagesOfBalancedLayersWhereTheirNumberIsPrime) {
  const auto stages_of = [](int layers) {
    std::string model(kTinyModel);
    model.replace(model.find("num_layers: 8"), 13, fmt::format("num_layers: {}", layers));
    const Scenario scenario = load(model + "training: {global_batch: 16}\n" + std::string(kMachine));
    return values(SearchSpace(scenario, scenario.search), "virtual_stages");
  };
  EXPECT_THAT(stages_of(61), ElementsAre("1", "2", "4", "8"));
  EXPECT_THAT(stages_of(96), ElementsAre("1", "2", "3", "4", "6", "8"));
  EXPECT_THAT(stages_of(3), ElementsAre("1", "2", "3"));
}

// The default depends on fsdp, but a search compares layouts, not frameworks.
TEST(SearchSpace, AllLayoutsHaveTheLossOfTheScenario) {
  using workload::CrossEntropy;
  for (const auto& [parallel, loss] :
       {std::pair{"", CrossEntropy::kSplit}, {"parallel: {fsdp: {}}\n", CrossEntropy::kEager}}) {
    const Scenario scenario = tiny(std::string("training: {global_batch: 16}\n") + parallel);
    ASSERT_EQ(scenario.job.training.cross_entropy, loss);
    const SearchSpace space(scenario, scenario.search);
    Layout layout = space.layout(0);
    for (const char* sharding : {"none", "zero-1", "fsdp"}) {
      layout.sharding = sharding;
      const auto job = changed_job(scenario, space.changes(layout));
      ASSERT_TRUE(job.has_value()) << sharding;
      EXPECT_EQ(job->job.training.cross_entropy, loss) << sharding;
    }
  }
}

TEST(SearchSpace, TakesTheValuesThatAreGiven) {
  const Scenario scenario = tiny(
      "training: {global_batch: 16}\nsearch: {tp: [2, 8, 2], sharding: [zero-2], vary: [{key: "
      "parallel.overlap_p2p_comm, "
      "values: ['true', 'false']}]}\n");
  const SearchSpace space(scenario, scenario.search);
  EXPECT_THAT(values(space, "tp"), ElementsAre("2", "8"));
  EXPECT_THAT(values(space, "sharding"), ElementsAre("zero-2"));
  EXPECT_THAT(values(space, "parallel.overlap_p2p_comm"), ElementsAre("true", "false"));
  EXPECT_THAT(space.changes(space.layout(0)).settings, Contains("parallel.overlap_p2p_comm=true"));
  EXPECT_THAT(space.changes(space.layout(1)).settings, Contains("parallel.overlap_p2p_comm=false"));
}

TEST(SearchSpace, HoldsEveryCombinationOnce) {
  const Scenario scenario =
      tiny("training: {global_batch: 16}\nsearch: {tp: [1, 2], pp: [1, 2, 4], sharding: [none]}\n");
  const SearchSpace space(scenario, scenario.search);
  std::set<std::string> seen;
  for (std::size_t i = 0; i < space.size(); ++i) {
    std::string all;
    for (const std::string& setting : space.changes(space.layout(i)).settings) all += setting + " ";
    all += space.layout(i).stage_layers;
    seen.insert(all);
  }
  EXPECT_EQ(seen.size(), space.size());
}

TEST(SearchSpace, AddsWhatTheScenarioItselfHas) {
  const Scenario scenario =
      tiny("training: {global_batch: 16}\nparallel: {pp: 2, schedule: zb-h1, zero: {stage: 2}}\n");
  const SearchSpace space(scenario, scenario.search);
  EXPECT_THAT(values(space, "sharding"), ElementsAre("none", "zero-1", "fsdp", "zero-2"));
  EXPECT_THAT(values(space, "schedule"), ElementsAre("1f1b", "zb-h1"));
}

// A list of layers, a fixed dp or the schedule of one layout would make every other layout illegal.
TEST(SearchSpace, LeavesBehindWhatHoldsForOneLayoutOnly) {
  const Scenario scenario =
      tiny("training: {global_batch: 16}\nparallel: {pp: 4, dp: 2, layers_per_part: [3, 2, 2, 1]}\n");
  const SearchSpace space(scenario, scenario.search);
  const Layout layout{.tp = 2,
                      .pp = 2,
                      .recompute = "none",
                      .sharding = "none",
                      .schedule = "1f1b",
                      .stage_layers = "even",
                      .sequence_parallel = "true"};
  const auto job = changed_job(scenario, space.changes(layout));
  ASSERT_TRUE(job.has_value()) << render(job.error());
  EXPECT_EQ(job->job.parallel.dp, 2);
  EXPECT_THAT(job->job.parallel.layers_per_part, ElementsAre(4, 4));
  EXPECT_TRUE(job->job.parallel.sequence_parallel);
}

TEST(SearchSpace, ShardingReplacesTheScenariosOwn) {
  const Scenario scenario =
      tiny("training: {global_batch: 16}\nparallel: {zero: {stage: 1, bucket: 1MB, overlap_grad_reduce: true}}\n");
  const SearchSpace space(scenario, scenario.search);
  Layout layout = own_layout(scenario, space.axes());
  EXPECT_EQ(layout.sharding, "zero-1");
  layout.sharding = "fsdp";
  const auto sharded = changed_job(scenario, space.changes(layout));
  ASSERT_TRUE(sharded.has_value()) << render(sharded.error());
  EXPECT_EQ(sharded->job.parallel.zero_stage, 3);
  EXPECT_EQ(sharded->job.parallel.bucket, Bytes(0));  // the bucket was that of `zero`
  layout.sharding = "none";
  EXPECT_EQ(changed_job(scenario, space.changes(layout))->job.parallel.zero_stage, 0);
}

// A layout that is refused without reading would also be refused by reading.
TEST(SearchSpace, FirstLookNeverRefusesWhatIsLegal) {
  const Scenario scenario =
      tiny("training: {global_batch: 24}\nsearch: {recompute: [none], micro_batch: [1, 2, 3, 5]}\n");
  const SearchSpace space(scenario, scenario.search);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Layout layout = space.layout(i);
    if (!refuse_early(layout, scenario)) continue;
    ++refused;
    EXPECT_FALSE(changed_job(scenario, space.changes(layout)).has_value()) << i;
  }
  EXPECT_GT(refused, 0U);
}

// 48 sequences divide over 3 microbatches of 16, which the scenario's own 32 do not; shares of replicas may differ.
TEST(SearchSpace, FirstLookKnowsTheBatchOfTheLayout) {
  const auto is_refused = [](const std::string& training, const std::string& parallel, const std::string& search) {
    const Scenario scenario = tiny("training: " + training + "\nparallel: " + parallel +
                                   "\nsearch: {micro_batch: [3], " + search + "}\n");
    const SearchSpace space(scenario, scenario.search);
    Layout layout = space.layout(0);
    EXPECT_EQ(layout.micro_batch, 3);
    layout.tp = 8;
    return refuse_early(layout, scenario).has_value();
  };
  EXPECT_TRUE(is_refused("{global_batch: 32}", "{dp: auto}", "tp: [8]"));
  EXPECT_FALSE(is_refused("{global_batch: 32}", "{dp: auto}", "vary: [{key: training.global_batch, values: [48]}]"));
  EXPECT_FALSE(is_refused("{global_batch: 32}", "{dp: auto, microbatch_split: balanced}", "tp: [8]"));
}

TEST(SearchSpace, MicrobatchesAreThoseOfTheBatchesThatAreVaried) {
  const Scenario scenario =
      tiny("training: {global_batch: 8}\nsearch: {vary: [{key: training.global_batch, values: [6, 20]}]}\n");
  EXPECT_THAT(values(SearchSpace(scenario, scenario.search), "micro_batch"), ElementsAre("1", "2", "4"));
}

std::vector<Bytes> memory_of(const Scenario& scenario, workload::KnownMemory* known) {
  std::vector<Bytes> stages;
  for (const MemoryRow& row : memory_rows(scenario.cluster, scenario.job, known)) stages.push_back(row.total);
  return stages;
}

// An unknown key is reported with the keys that it may mean, as when everything is read.
TEST(SearchSpace, AnUnknownKeyIsReportedWithSimilarOnes) {
  const Scenario scenario = tiny();
  const auto job = changed_job(scenario, {.settings = {"parallel.overlap_p2p_com=true"}});
  ASSERT_FALSE(job.has_value());
  EXPECT_THAT(render(job.error()), ::testing::HasSubstr("did you mean 'overlap_p2p_comm'?"));
}

// What was found for other layouts changes nothing, in any order: neither a split of layers nor a refusal, neither
// memory nor a bound.
TEST(SearchSpace, LayoutsAreReadTheSameAfterOthers) {
  const Scenario scenario =
      load(std::string(kTinyModel) +
               "training: {global_batch: 20}\nparallel: {tp: 2, pp: 2, dp: auto}\nsearch: {micro_batch: [1, 2, 4], "
               "recompute: [none, full], pp: [2, 4], virtual_stages: [1, 2, 4], stage_layers: [even, balanced]}\n" +
               std::string(kMachine),
           {"model.num_layers=16"});  // 5 microbatches in groups of 4 are refused with 4 chunks of each stage
  const SearchSpace space(scenario, scenario.search);
  workload::KnownLayouts known;
  workload::KnownMemory known_memory(known.order);
  Scenario mine = *changed_scenario(scenario, {});
  configs::KnownOverheads overheads;
  configs::LeastCalls calls(mine, overheads);
  std::size_t legal = 0, refused = 0;
  std::vector<std::size_t> order;
  for (std::size_t step = 0; step < space.size(); ++step) order.push_back(step * 997 % space.size());
  for (std::size_t step = 0; step < space.size(); ++step) order.push_back(step);  // as a search: neighbours share most
  for (const std::size_t step : order) {
    const Layout layout = space.layout(step);
    auto alone = changed_job(scenario, space.changes(layout));
    const auto after = changed_job(scenario, space.changes(layout), &known);
    ASSERT_EQ(alone.has_value(), after.has_value()) << step;
    if (alone) {
      ++legal;
      EXPECT_EQ(alone->job.parallel.layers_per_part, after->job.parallel.layers_per_part) << step;
      mine.job = std::move(alone->job);
      EXPECT_EQ(memory_of(mine, nullptr), memory_of(mine, &known_memory)) << step;
      const BoundedJob bounded{.machine = scenario, .job = mine.job, .simulate = mine.simulate};
      EXPECT_EQ(least_time(bounded, calls), least_time(bounded, calls, &known)) << step;
      continue;
    }
    ++refused;
    EXPECT_EQ(render(alone.error()), render(after.error())) << step;
  }
  EXPECT_GT(legal, 0U);
  EXPECT_GT(refused, 0U);
  EXPECT_GT(known.balanced.size(), 1U);
  EXPECT_TRUE(std::ranges::any_of(known.problem_of_order, [](const auto& entry) { return entry.second.empty(); }));
  EXPECT_TRUE(std::ranges::any_of(known.problem_of_order, [](const auto& entry) { return !entry.second.empty(); }));
}

// A choice without effect: the equivalent layout is in the space, is legal exactly when the layout is, and takes the
// same time and memory.
void expect_what_has_no_effect_is_played_the_same(const Scenario& scenario) {
  const SearchSpace space(scenario, scenario.search);
  Scenario mine = *changed_scenario(scenario, {});
  Planner planner(mine);
  const auto text_of = [&](const Layout& layout) -> std::string {
    auto job = changed_job(scenario, space.changes(layout));
    if (!job) return "illegal";
    mine.job = std::move(job->job);
    const auto prediction = planner.predict(mine);
    std::int64_t bytes = 0;
    for (const MemoryRow& row : memory_rows(mine)) bytes += row.total.count();
    return fmt::format("{} {}", (*prediction)->step_time.mean.count(), bytes);
  };
  std::size_t same = 0;
  for (std::size_t i = 0; i < space.size(); ++i) {
    const Layout layout = space.layout(i);
    const Layout essence = space.essence(layout);
    if (essence == layout || refuse_early(layout, scenario)) continue;
    ++same;
    EXPECT_EQ(space.essence(essence), essence);
    EXPECT_EQ(text_of(layout), text_of(essence)) << i;
  }
  EXPECT_GT(same, 0U);
}

TEST(SearchSpace, WhatHasNoEffectIsPlayedTheSame) {
  expect_what_has_no_effect_is_played_the_same(tiny(
      "training: {global_batch: 32}\nsearch: {recompute: [none], micro_batch: [1], sequence_parallel: ['true', "
      "'false'], "
      "schedule: [1f1b, interleaved-1f1b, zb-v], virtual_stages: [1, 2], sharding: [none, zero-1, fsdp], pp: [1, 2, "
      "4]}\n"));
}

// Tensor-parallel ranks that do not divide the experts hold copies of them, which sharding divides.
TEST(SearchSpace, WhatHasNoEffectOnExpertsIsPlayedTheSame) {
  expect_what_has_no_effect_is_played_the_same(
      load(std::string(kTinyModel) +
               "training: {global_batch: 32}\nsearch: {recompute: [none], micro_batch: [1], virtual_stages: [1], "
               "stage_layers: [even], tp: [2, 4, 8], sharding: [none, zero-1, fsdp]}\n" +
               std::string(kMachine),
           {"model.num_experts=4", "model.moe_router_topk=2", "parallel.sequence_parallel=true"}));
}

// One replica has nothing to share, but may offload its state, which sharding brings.
TEST(SearchSpace, OffloadingIsAnEffectOfShardingWithOneReplica) {
  const auto essence_of = [](const std::string& zero, const std::string& sharding) {
    const Scenario scenario =
        tiny("training: {global_batch: 16}\nparallel: {tp: 8, sequence_parallel: true, " + zero + "}\n");
    const SearchSpace space(scenario, scenario.search);
    Layout layout = own_layout(scenario, space.axes());
    layout.sharding = sharding;
    return space.essence(layout).sharding;
  };
  EXPECT_EQ(essence_of("zero: {stage: 1}", "zero-1"), "none");
  EXPECT_EQ(essence_of("zero: {stage: 1, offload_optimizer: {device: cpu}}", "zero-1"), "zero-1");
  EXPECT_EQ(essence_of("fsdp: {cpu_offload: true}", "fsdp"), "fsdp");
}

// A third of a default space would take most of its time; it is included on request, or when the scenario does so
// already.
TEST(SearchSpace, LeavesOutGatheringInPipelinesUnlessAsked) {
  const Layout gathering{.pp = 2, .sharding = "fsdp"};
  const auto left_out = [&](const std::string& rest) {
    const Scenario scenario = tiny("training: {global_batch: 16}\n" + rest);
    return SearchSpace(scenario, scenario.search).left_out(gathering).has_value();
  };
  EXPECT_TRUE(left_out(""));
  EXPECT_TRUE(left_out("parallel: {fsdp: {}}\n"));
  EXPECT_FALSE(left_out("search: {sharding: [none, fsdp]}\n"));
  EXPECT_FALSE(left_out("parallel: {pp: 2, fsdp: {}}\n"));
  const Scenario scenario = tiny();
  EXPECT_FALSE(SearchSpace(scenario, scenario.search).left_out({.pp = 1, .sharding = "fsdp"}).has_value());
  EXPECT_FALSE(SearchSpace(scenario, scenario.search).left_out({.pp = 2, .sharding = "zero-1"}).has_value());
}

TEST(OwnLayout, IsReportedInTheWordsOfTheAxes) {
  const Scenario scenario = tiny(
      "training: {global_batch: 16, recompute: full, micro_batch: 2}\nparallel: {tp: 2, pp: 2, schedule: "
      "interleaved-1f1b, "
      "virtual_stages: 2, stage_layers: balanced, sequence_parallel: true, fsdp: {}}\n");
  const Layout own = own_layout(scenario, {});
  EXPECT_EQ(own, (Layout{.tp = 2,
                         .pp = 2,
                         .virtual_stages = 2,
                         .micro_batch = 2,
                         .recompute = "full",
                         .sharding = "fsdp",
                         .schedule = "1f1b",
                         .stage_layers = "balanced",
                         .sequence_parallel = "true",
                         .others = {}}));
}

}  // namespace
}  // namespace ringwright::planning::search_space_test
