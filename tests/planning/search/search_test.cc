#include "planning/search/search.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "planning/search/choices.h"
#include "planning/search/search_report.h"
#include "tests/configs/played.h"

namespace ringwright::planning::search_test {
using namespace configs;
namespace {

std::string text_of(const std::string& search, const std::string& parallel = "{dp: auto}",
                    const std::string& network = "flow") {
  return std::string(kTinyModel) + "training: {global_batch: 16}\nparallel: " + parallel + "\nsearch: {" + search +
         "}\ncluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\nsimulate: {network: " +
         network + "}\n";
}

// One choice on every axis but tp and pp.
const std::string kTwoAxes =
    "virtual_stages: [1], micro_batch: [1], recompute: [none], sharding: [none], stage_layers: [even]";

SearchResult found(const Scenario& scenario, int threads = 0) {
  auto result = search(scenario, scenario.search, {.threads = threads});
  if (!result) throw std::runtime_error(render(result.error()));
  return std::move(*result);
}

// tp and pp of 1, 2, 4 and 8 on 8 GPUs: 10 of 16 products divide 8; every one divides the 8 layers and heads, 16
// sequences are distributed over 8, 4, 2 or 1 replicas.
TEST(Search, MissesNothingThatIsLegal) {
  const Scenario scenario = load(text_of(kTwoAxes));
  const SearchResult result = found(scenario);
  EXPECT_EQ(result.combinations, 16U);
  EXPECT_EQ(result.ranked.size(), 10U);
  ASSERT_EQ(result.refusals.size(), 1U);
  EXPECT_EQ(result.refusals[0].refusal.code, "E130");
  EXPECT_EQ(result.refusals[0].count, 6U);
}

TEST(Search, ProgressCountsEachStageFromItsBegin) {
  const Scenario scenario = load(text_of(kTwoAxes));
  std::size_t ended = 0;
  bool between = true;  // stages
  const auto count = [&](std::size_t done, std::size_t all) {
    EXPECT_LE(done, all);
    if (between) {
      EXPECT_EQ(done, 0U);
    }
    between = done == all;
    ended += between ? 1U : 0U;
  };
  const auto result = search(scenario, scenario.search, {.threads = 1, .progress = count});
  ASSERT_TRUE(result);
  EXPECT_GE(ended, 2U);
  EXPECT_TRUE(between);
}

// Every combination is one of: predicted, too large, the same as another, refused.
TEST(Search, CountsEveryCombinationOnce) {
  const Scenario scenario = load(text_of("micro_batch: [1, 3], max_memory: 6GiB"));
  const SearchResult result = found(scenario);
  std::size_t refused = 0;
  for (const RefusalCount& entry : result.refusals) refused += entry.count;
  EXPECT_EQ(result.legal() + result.same + refused, result.combinations);
}

struct Predicted {
  std::int64_t step = 0;  // ps
  std::int64_t memory = 0;
  double mfu = 0.0;
};

constexpr const char* kSmallSpace =
    "tp: [1, 2, 4], pp: [1, 2, 4], virtual_stages: [1, 2], micro_batch: [1, 2], recompute: [none, full], "
    "sharding: [none, zero-1], stage_layers: [even], replay: 0";

// Each layout of that space as a scenario of its own, read from YAML and predicted one by one.
std::vector<Predicted> enumerated() {
  std::vector<Predicted> all;
  for (const int tp : {1, 2, 4})
    for (const int pp : {1, 2, 4})
      for (const int chunks : {1, 2})
        for (const int micro : {1, 2})
          for (const char* recompute : {"none", "full"})
            for (const int stage : {0, 1}) {
              if (8 % (tp * pp) != 0 || (tp * pp == 8 && stage == 1)) continue;  // one replica has nothing to share
              const std::string parallel = fmt::format(
                  "{{tp: {}, pp: {}, virtual_stages: {}, schedule: {}, sequence_parallel: true, zero: {{stage: {}}}}}",
                  tp, pp, chunks, chunks > 1 ? "interleaved-1f1b" : "1f1b", stage);
              const auto one =
                  load_scenario_text("one.yaml", text_of("", parallel, "alpha_beta"),
                                     {.overrides = {"collectives.model=closed_form", "collectives.overhead=kernels",
                                                    fmt::format("training.micro_batch={}", micro),
                                                    fmt::format("training.recompute={}", recompute)},
                                      .share_folders = {}});
              if (!one) continue;
              const configs::Prediction prediction = **Planner(*one).predict(*one);
              std::int64_t fullest = 0;
              for (const MemoryRow& row : memory_rows(*one)) fullest = std::max(fullest, row.total.count());
              all.push_back(
                  {prediction.step_time.mean.count(), fullest, prediction.model_flop_utilisation.value_or(0.0)});
            }
  return all;
}

TEST(Search, FindsWhatBruteForceFinds) {
  std::vector<std::int64_t> expected;
  for (const Predicted& each : enumerated()) expected.push_back(each.step);
  std::ranges::sort(expected);
  std::vector<std::int64_t> ranked;
  for (const Configuration& c : found(load(text_of(kSmallSpace))).ranked) {
    ranked.push_back(c.quick->step_time.mean.count());
  }
  EXPECT_EQ(ranked, expected);
}

// Every objective: the first layout is an optimum of the enumeration. With a fixed batch, the most tokens a second are
// those of the shortest step.
TEST(Search, FindsTheOptimumOfEveryObjective) {
  const std::vector<Predicted> all = enumerated();
  const auto best = [&](const std::string& objective) {
    return found(load(text_of(std::string(kSmallSpace) + ", objective: " + objective))).ranked.front();
  };
  const std::int64_t shortest = std::ranges::min_element(all, {}, &Predicted::step)->step;
  EXPECT_EQ(best("step_time").quick->step_time.mean.count(), shortest);
  EXPECT_EQ(best("tokens_per_s").quick->step_time.mean.count(), shortest);
  EXPECT_EQ(best("mfu").quick->step_time.mean.count(), std::ranges::max_element(all, {}, &Predicted::mfu)->step);
  const Configuration smallest = best("memory");
  EXPECT_EQ(smallest.fullest.total.count(), std::ranges::min_element(all, {}, &Predicted::memory)->memory);
}

TEST(Search, DoesNotDependOnThreads) {
  for (const char* const skips : {"", ", skip_slower: true"}) {
    const Scenario scenario = load(text_of(std::string("max_memory: 5GiB, micro_batch: [1, 2]") + skips));
    const auto ranked_by = [&](int threads) {
      const SearchResult result = found(scenario, threads);
      const SearchReport report{.scenario = scenario, .settings = scenario.search, .result = result};
      return render_search_text(report) + render_search_json(report) + render_search_csv(report);
    };
    EXPECT_EQ(ranked_by(1), ranked_by(4));
  }
}

// All tables of the page but ranks that are not known.
struct PageTables {
  std::vector<std::size_t> best;
  std::vector<std::pair<std::size_t, std::int64_t>> front, choices;
  std::vector<std::size_t> fitting;  // by choice
  friend bool operator==(const PageTables&, const PageTables&) = default;
};
PageTables tables_of(const SearchResult& result, std::size_t best) {
  PageTables tables;
  const auto entry = [&](std::size_t i) {
    return std::pair(result.ranked[i].index, result.ranked[i].best_known().step_time.mean.count());
  };
  for (std::size_t i = 0; i < std::min(best, result.ranked.size()); ++i) tables.best.push_back(result.ranked[i].index);
  for (const std::size_t i : result.front) tables.front.push_back(entry(i));
  for (const ChoiceClass& choice : choice_classes(result)) {
    if (choice.best) tables.choices.push_back(entry(*choice.best));
    tables.fitting.push_back(choice.fitting);
  }
  return tables;
}

TEST(Search, SkipsWhatIsOnNoTable) {
  const std::string space = "recompute: [none, full], stage_layers: [even], max_memory: 8GiB, top: 3, replay: ";
  // Kernels long enough that computing is most of a step.
  const std::vector<std::string> large = {"model.hidden_size=2048", "model.ffn_hidden_size=8192",
                                          "model.seq_length=1024", "compute.host_issue=0ns"};
  for (const char* const replay : {"0", "4"}) {
    const SearchResult all = found(load(text_of(space + replay), large));
    const SearchResult some = found(load(text_of(space + replay + ", skip_slower: true"), large));
    EXPECT_TRUE(some.bounds_hold);
    EXPECT_GT(some.skipped.size(), 10U);
    EXPECT_EQ(some.fitting(), all.fitting());
    EXPECT_EQ(some.legal() + some.same, all.legal() + all.same);
    EXPECT_EQ(tables_of(some, 5), tables_of(all, 5)) << replay;
    for (const SkippedLayout& skipped : some.skipped) {
      const auto same = std::ranges::find(all.ranked, skipped.configuration.index, &Configuration::index);
      ASSERT_NE(same, all.ranked.end());
      EXPECT_LE(skipped.least, same->quick->step_time.mean);
    }
    for (std::size_t i = 0; i < some.ranked.size() && some.is_rank_known(some.ranked[i]); ++i) {
      EXPECT_EQ(some.ranked[i].index, all.ranked[i].index) << i;
    }
  }
}

// 512 and more layouts fit with twelve sizes of buckets, a twelfth of them with one.
TEST(Search, SkipsByItselfWhereMoreThan500FitAndOnlyTablesAreAskedFor) {
  const auto searched = [](const std::string& more, bool lists_all) {
    const Scenario scenario = load(text_of("recompute: [none, full], stage_layers: [even], top: 3, replay: 0" + more),
                                   {"model.hidden_size=2048", "model.ffn_hidden_size=8192", "model.seq_length=1024",
                                    "compute.host_issue=0ns"});
    auto result = search(scenario, scenario.search, {.lists_all = lists_all});
    if (!result) throw std::runtime_error(render(result.error()));
    return std::move(*result);
  };
  std::string sizes;
  for (int size = 1; size <= 12; ++size) sizes += fmt::format("{}\"{}MB\"", size == 1 ? "" : ", ", 50 * size);
  const std::string many = ", vary: [{key: parallel.zero.bucket, values: [" + sizes + "]}]";
  const SearchResult tables = searched(many, false);
  EXPECT_GT(tables.fitting(), 500U);
  EXPECT_GT(tables.skipped.size(), 0U);
  EXPECT_EQ(searched(many, true).skipped.size(), 0U);
  EXPECT_EQ(searched(many + ", skip_slower: false", false).skipped.size(), 0U);
  EXPECT_EQ(searched(many + ", objective: memory", false).skipped.size(), 0U);
  EXPECT_EQ(searched("", false).skipped.size(), 0U);
}

// What is known of layouts is not that of another GPU's speed: the fastest with each value of a key of `compute` is
// that of a search with this value alone.
TEST(Search, FindsWithEachSpeedOfAGpuWhatASearchWithThatSpeedFinds) {
  const std::string space = "stage_layers: [even, balanced], recompute: [none, full], replay: 0";
  const auto fastest = [](const SearchResult& result, const std::string& value) {
    std::optional<std::pair<std::vector<std::int64_t>, Duration>> best;
    for (const Configuration& one : result.ranked) {
      if (one.layout.pp < 4 || (!one.layout.others.empty() && one.layout.others.front().second != value)) continue;
      const Duration step = one.quick->step_time.mean;
      if (!best || step < best->second) best.emplace(one.layers_per_part, step);
    }
    return best;
  };
  for (const char* const skips : {"", ", skip_slower: true"}) {
    const std::string key = "compute.gemm_efficiency";
    const SearchResult both = found(load(
        text_of(space + ", pp: [4, 8], vary: [{key: " + key + ", values: [5%, 80%]}]" + skips)));
    EXPECT_TRUE(both.bounds_hold);
    for (const std::string value : {"5%", "80%"}) {
      const SearchResult alone = found(load(text_of(space + ", pp: [4, 8]" + skips), {key + "=" + value}));
      EXPECT_EQ(fastest(both, value), fastest(alone, value)) << value;
    }
  }
}

// As late as those that are known to be faster.
TEST(Search, KnowsTheLeastRankOfTheOwnLayoutWhereLayoutsAreSkipped) {
  const std::vector<std::string> large = {"model.hidden_size=2048", "model.ffn_hidden_size=8192",
                                          "model.seq_length=1024", "compute.host_issue=0ns"};
  const std::string space = "recompute: [none, full], stage_layers: [even], top: 1, replay: 0";
  const SearchResult all = found(load(text_of(space, "{tp: 8}"), large));
  const SearchResult some = found(load(text_of(space + ", skip_slower: true", "{tp: 8}"), large));
  ASSERT_TRUE(all.own.rank && some.own.rank);
  EXPECT_TRUE(all.own.is_rank_known);
  EXPECT_FALSE(some.own.is_rank_known);
  EXPECT_LE(*some.own.rank, *all.own.rank);
  EXPECT_GT(*some.own.rank, 1U);
}

TEST(Search, KnowsBoundsOfTheStepsTimeAlone) {
  const auto refused = load_scenario_text("one.yaml", text_of("skip_slower: true, objective: memory"));
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().all().front().code, "E153");
}

TEST(Search, PlaysTheBestAgainOnTheScenariosOwnRungs) {
  const Scenario scenario = load(text_of(kTwoAxes + ", replay: 3"));
  const SearchResult result = found(scenario);
  ASSERT_EQ(result.replayed, 3U);
  for (std::size_t i = 0; i < result.ranked.size(); ++i) EXPECT_EQ(result.ranked[i].played.has_value(), i < 3) << i;
  for (std::size_t i = 1; i < 3; ++i)
    EXPECT_LE(result.ranked[i - 1].played->step_time.mean, result.ranked[i].played->step_time.mean);
  for (std::size_t i = 4; i < 10; ++i)
    EXPECT_LE(result.ranked[i - 1].quick->step_time.mean, result.ranked[i].quick->step_time.mean);
}

// `run` of the written scenario reports the same as the search for its best.
TEST(Search, WritesTheBestAsAScenario) {
  const Scenario scenario =
      load(text_of("recompute: [none, full], micro_batch: [1, 2]", "{pp: 2, dp: 4, layers_per_part: [5, 3]}"));
  const SearchResult result = found(scenario);
  const SearchSpace space(scenario, scenario.search);
  const auto again = load_scenario_text("best.yaml", written(scenario, space, result.ranked.front()));
  ASSERT_TRUE(again.has_value()) << render(again.error());
  EXPECT_EQ(again->name, "scenario-best");
  EXPECT_EQ(simulate(*again, *assemble(*again)).report->step_time.mean, result.ranked.front().played->step_time.mean);
}

TEST(Search, RanksTheScenariosOwnLayoutWithTheOthers) {
  const Scenario scenario = load(text_of(kTwoAxes + ", replay: 10", "{tp: 4, pp: 2, sequence_parallel: true}"));
  const SearchResult result = found(scenario);
  const auto same =
      std::ranges::find_if(result.ranked, [](const Configuration& c) { return c.layout.tp == 4 && c.layout.pp == 2; });
  ASSERT_NE(same, result.ranked.end());
  EXPECT_EQ(result.own.rank, static_cast<std::size_t>(same - result.ranked.begin()) + 1);
  EXPECT_EQ(result.own.configuration.played->step_time.mean, same->played->step_time.mean);
}

TEST(Search, KeepsWhatDoesNotFitTheClosestFirst) {
  const Scenario scenario = load(text_of(kTwoAxes + ", max_memory: 1MiB"));
  const SearchResult result = found(scenario);
  EXPECT_TRUE(result.ranked.empty());
  ASSERT_EQ(result.misfits.size(), 10U);
  for (std::size_t i = 1; i < 10; ++i) EXPECT_LE(result.misfits[i - 1].fullest.total, result.misfits[i].fullest.total);
  EXPECT_FALSE(result.own.fits);
  EXPECT_FALSE(result.own.rank.has_value());
}

// A limit of memory is one for the split of layers, too: as on a GPU with that memory. What is written has that split.
TEST(Search, SplitsLayersForTheMemoryThatAGpuMayUse) {
  const std::string space =
      "tp: [1], pp: [4], virtual_stages: [1], micro_batch: [1], recompute: [none], sharding: [none], stage_layers: "
      "[balanced-memory], replay: 1";
  const std::vector<std::string> large = {"model.hidden_size=1024", "model.seq_length=4096",  "model.vocab_size=8000",
                                          "model.num_layers=16",    "memory.cuda_context=0B", "memory.communicator=0B"};
  const auto with = [&](const std::string& more, const std::string& memory) {
    std::vector<std::string> settings = large;
    if (!memory.empty()) settings.push_back("cluster.node.gpu.memory=" + memory);
    return found(load(text_of(space + more), settings));
  };
  const Bytes most = with("", "").ranked.front().fullest.total;
  const std::string limit = fmt::format("{}B", most.count() * 9 / 10);
  const SearchResult limited = with(", max_memory: " + limit, "");
  const SearchResult small = with("", limit);
  ASSERT_EQ(limited.ranked.size(), 1U);
  ASSERT_EQ(small.ranked.size(), 1U);
  EXPECT_EQ(limited.ranked.front().layers_per_part, small.ranked.front().layers_per_part);
  EXPECT_EQ(limited.ranked.front().played->step_time.mean, small.ranked.front().played->step_time.mean);
  const Scenario scenario = load(text_of(space + ", max_memory: " + limit), large);
  const auto again = load_scenario_text(
      "best.yaml", written(scenario, SearchSpace(scenario, scenario.search), limited.ranked.front()));
  ASSERT_TRUE(again.has_value()) << render(again.error());
  EXPECT_EQ(again->job.parallel.layers_per_part, limited.ranked.front().layers_per_part);
}

TEST(Search, LeavesOutBalancedPartsThatAreEven) {
  const Scenario scenario =
      load(text_of("tp: [1], virtual_stages: [1], micro_batch: [1], recompute: [none], sharding: [none], "
                   "stage_layers: [even, balanced]"));
  const SearchResult result = found(scenario);
  for (const Configuration& c : result.ranked) {
    const bool even = std::ranges::adjacent_find(c.layers_per_part, std::not_equal_to()) == c.layers_per_part.end();
    EXPECT_EQ(c.layout.stage_layers == "even", even);
  }
}

// 7 layers on 2 or 4 stages: only uneven stages can hold them, the last one, with the logits, fewest.
TEST(Search, FindsUnevenStagesWhereEvenOnesCannotBe) {
  const Scenario scenario =
      load(text_of(kTwoAxes.substr(0, kTwoAxes.rfind(',')) + ", pp: [2, 4], tp: [1], stage_layers: [even, balanced]"),
           {"model.num_layers=7", "model.vocab_size=64000"});
  const SearchResult result = found(scenario);
  ASSERT_EQ(result.ranked.size(), 2U);
  EXPECT_EQ(result.refusals.front().refusal.code, "E131");
  for (const Configuration& c : result.ranked) EXPECT_LT(c.layers_per_part.back(), c.layers_per_part.front());
}

// Seven layers on eight GPUs: no equal stages but one, and more ranks where there are more layers.
TEST(Search, PlansStagesWithRanksOfTheirOwn) {
  const Scenario scenario =
      load(text_of("pp: [2, 3, 4, 5, 6, 7], tp: [1, 2], virtual_stages: [1], micro_batch: [1], recompute: [none], "
                   "sharding: [none], stage_layers: [alpa]"),
           {"model.num_layers=7", "compute.host_issue=1us", "training.global_batch=64"});
  const SearchResult result = found(scenario);
  ASSERT_EQ(result.ranked.size(), 1U);
  const Configuration& best = result.ranked.front();
  EXPECT_EQ(best.layout.stages.substr(0, 9), "[{layers:");
  EXPECT_EQ(std::accumulate(best.layers_per_part.begin(), best.layers_per_part.end(), std::int64_t{0}), 7);
  EXPECT_EQ(static_cast<std::int64_t>(best.layers_per_part.size()), best.layout.pp);
  ASSERT_TRUE(best.played.has_value());
  // What is written is what was predicted.
  const SearchSpace space(scenario, scenario.search);
  const Scenario again = load(written(scenario, space, best));
  EXPECT_EQ(again.job.parallel.layers_per_part, best.layers_per_part);
  EXPECT_EQ(again.job.parallel.meshes.size(), best.layers_per_part.size());
}

TEST(Search, DoesNotPlanStagesOfExperts) {
  const Scenario scenario = load(text_of("stage_layers: [alpa], recompute: [none], sharding: [none]"),
                                 {"model.num_experts=4", "model.moe_router_topk=2", "model.moe_ffn_hidden_size=256"});
  const SearchResult result = found(scenario);
  EXPECT_TRUE(result.ranked.empty());
  ASSERT_FALSE(result.refusals.empty());
  EXPECT_EQ(result.refusals.front().refusal.code, "E593");
}

TEST(Search, RefusesASpaceThatNobodyCouldTry) {
  std::string many = "1";
  for (int i = 2; i <= 3000; ++i) many += ", " + std::to_string(i);
  const Scenario scenario = load(text_of("tp: [" + many + "], pp: [" + many + "]"));
  const auto result = search(scenario, scenario.search);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().all().front().code, "E153");
}

}  // namespace
}  // namespace ringwright::planning::search_test
