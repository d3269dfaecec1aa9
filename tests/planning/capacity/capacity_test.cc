#include "planning/capacity/capacity.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "planning/search/search.h"
#include "planning/search/search_base.h"
#include "tests/configs/played.h"

namespace ringwright::planning::capacity_test {
namespace {

using testing::HasSubstr;

constexpr double kUsdPerGpuHour = 3.6;

// A scenario of one host with 8 GPUs in a file. The search has six layouts: tp and pp of 1 and 2, and tp 4.
class Capacity : public testing::Test {
 protected:
  Capacity() : folder_(testing::TempDir() + "ringwright_capacity_" + std::to_string(::getpid())) {
    std::filesystem::create_directories(folder_);
    std::ofstream(scenario_path())
        << configs::kTinyModel
        << "training: {global_batch: 16}\nparallel: {dp: auto}\n"
           "search: {tp: [1, 2, 4], pp: [1, 2], virtual_stages: [1], micro_batch: [1], recompute: [none], "
           "sharding: [none], stage_layers: [even]}\n"
           "cluster: {nodes: 1, node: {preset: dgx-h100}, "
           "fabric: {type: rail_optimized, rails: 8, leaf: {ports: 64, speed: 400Gbps}}}\n";
  }
  ~Capacity() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string scenario_path() const { return folder_ + "/base.yaml"; }

  [[nodiscard]] Result<CapacityResult> study(const std::string& text) {
    auto read = load_capacity_text("plan.yaml", "scenario: base.yaml\ntokens: 1e9\n" + text);
    if (!read) throw std::runtime_error(render(read.error()));
    plan_ = std::move(*read);
    return find_capacity(plan_, scenario_path());
  }
  [[nodiscard]] CapacityResult found(const std::string& text) {
    auto result = study(text);
    if (!result) throw std::runtime_error(render(result.error()));
    return std::move(*result);
  }
  [[nodiscard]] const CapacityPlan& plan() const { return plan_; }

 private:
  std::string folder_;
  CapacityPlan plan_;
};

const std::string kPriced = fmt::format("set: {{cost.usd_per_gpu_hour: {}}}\n", kUsdPerGpuHour);
const std::string kTwoSizes = "machines: [{name: H100, hosts: [1, 2]}]\n";

// Each layout of the space simulated as a point of its own.
TEST_F(Capacity, EveryOfferIsTheFastestLayoutOnItsMachine) {
  const CapacityResult result = found(kTwoSizes + "replay: 6\n");
  ASSERT_EQ(result.offers.size(), 2U);
  for (const Offer& offer : result.offers) {
    Duration shortest = kClockEnd;
    for (const int tp : {1, 2, 4}) {
      for (const int pp : {1, 2}) {
        const std::vector<std::string> settings{fmt::format("cluster.nodes={}", offer.hosts),
                                                fmt::format("parallel.tp={}", tp), fmt::format("parallel.pp={}", pp)};
        const LoadedPoint loaded = PointSource(scenario_path()).load(settings);
        if (!loaded.scenario) continue;  // tp 1 and pp 1 on 16 GPUs leave one sequence to each replica
        shortest = std::min(shortest, simulate_point(*loaded.scenario).figures.step);
      }
    }
    EXPECT_EQ(offer.figures.step, shortest) << offer.hosts << " hosts";
  }
}

// Four hosts of one GPU whose circuits are rings of these strides: TopoOpt's choice of topology and strategy together
// (NSDI 2023). Messages back to the stage before go three hops over rings of stride 1, and one of stride 3.
TEST_F(Capacity, TheTopologyIsChosenWithTheLayout) {
  std::ofstream(scenario_path()) << configs::kTinyModel
                                 << "training: {global_batch: 16}\nparallel: {dp: auto}\n"
                                    "search: {tp: [1, 2, 4], pp: [1, 2], virtual_stages: [1], micro_batch: [1], "
                                    "recompute: [none], sharding: [none], stage_layers: [even]}\n"
                                    "cluster: {nodes: 4, node: {preset: dgx-h100, gpus: 1, nic: {count: 1}, "
                                    "pcie: {switches: 1}}, fabric: {type: patch_panel}}\n";
  const CapacityResult result = found(
      "machines: [{name: '[1, 1]', set: {cluster.fabric.rings: [1, 1]}}, {name: '[1, 3]', set: {cluster.fabric.rings: "
      "[1, 3]}}, {name: '[3, 3]', set: {cluster.fabric.rings: [3, 3]}}]\nreplay: 6\n");
  Duration shortest = kClockEnd;
  std::string of;
  for (const char* const rings : {"[1, 1]", "[1, 3]", "[3, 3]"}) {
    for (const int tp : {1, 2, 4}) {
      for (const int pp : {1, 2}) {
        const LoadedPoint loaded = PointSource(scenario_path()).load(
            std::vector<std::string>{std::string("cluster.fabric.rings=") + rings, fmt::format("parallel.tp={}", tp),
                                     fmt::format("parallel.pp={}", pp)});
        if (!loaded.scenario) continue;  // more ranks than GPUs
        const Duration step = simulate_point(*loaded.scenario).figures.step;
        if (step < shortest) of = rings;
        shortest = std::min(shortest, step);
      }
    }
  }
  ASSERT_EQ(result.ranking.size(), 3U);
  const Offer& best = result.offers.at(result.ranking.front());
  EXPECT_EQ(best.figures.step, shortest);
  EXPECT_EQ(plan().machines[best.machine].name, of);
  EXPECT_LT(best.figures.step, result.offers.at(result.ranking.back()).figures.step);
}

// T / b steps of t seconds; money is the rent of 8 GPUs for that long.
TEST_F(Capacity, DaysAndMoneyFollowFromTheStep) {
  const Offer offer = found("machines: [{name: H100}]\n" + kPriced).offers.at(0);
  ASSERT_EQ(offer.status, OfferStatus::kOk);
  const double tokens_per_step = 16 * 128;
  const double seconds = 1e9 / tokens_per_step * to_seconds(offer.figures.step);
  EXPECT_NEAR(offer.days, seconds / 86'400, 1e-9 * offer.days);
  EXPECT_NEAR(offer.usd.value(), 8 * seconds / 3'600 * kUsdPerGpuHour, 1e-9 * *offer.usd);
}

TEST_F(Capacity, HalfTheGoodputTakesTwiceTheTimeAndMoney) {
  const Offer whole = found("machines: [{name: H100}]\n" + kPriced).offers.at(0);
  const Offer half = found("machines: [{name: H100}]\ngoodput: 50%\n" + kPriced).offers.at(0);
  EXPECT_DOUBLE_EQ(half.days, 2 * whole.days);
  EXPECT_DOUBLE_EQ(half.usd.value(), 2 * *whole.usd);
  EXPECT_EQ(half.figures.step, whole.figures.step);
}

// One machine differs from no other, and its layout is the answer: it stands below the table.
TEST_F(Capacity, ASearchThatVariesTheBatchIsRefused) {
  const auto refused = study(
      "machines: [{name: a, set: {search.vary: [{key: training.global_batch, values: [16, 32]}]}}]\n");
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(render(refused.error()), HasSubstr("E620]: the search varies 'training.global_batch'"));
}

TEST_F(Capacity, NamesAnObjectiveOfTheSearchThatHasNoEffect) {
  const CapacityResult result = found("machines: [{name: a, set: {search.objective: memory}}, {name: b}]\n");
  ASSERT_EQ(result.offers[0].notes.size(), 1U);
  EXPECT_THAT(result.offers[0].notes[0], HasSubstr("search.objective = memory has no effect: "));
  EXPECT_TRUE(result.offers[1].notes.empty());
}

TEST_F(Capacity, ShowsSmallAmountsWithTheirDigits) {
  const CapacityResult result = found("set: {cost.usd_per_gpu_hour: 0.36}\nmachines: [{name: a}]\n");
  const double usd = *result.offers[0].usd;
  ASSERT_LT(usd, 10.0);
  EXPECT_THAT(render_capacity_text(plan(), result), HasSubstr(fmt::format("  {:.4g}  yes", usd)));
}

TEST_F(Capacity, ShowsTheLayoutThatAllMachinesHave) {
  const CapacityResult result = found("machines: [{name: H100}]\n");
  EXPECT_THAT(render_capacity_text(plan(), result), HasSubstr("\n  layout: " + layout_words(result.offers[0].layout)));
}

// One machine's search has a single value, which is not that of the other one's best layout.
TEST_F(Capacity, AValueThatOneMachineFixesIsShown) {
  const CapacityResult result =
      found("machines: [{name: any, set: {search.pp: [1]}}, {name: four, set: {search: {tp: [4], pp: [1]}}}]\n");
  ASSERT_EQ(result.ranking.size(), 2U);
  EXPECT_THAT(layout_words(result.offers[1].layout), HasSubstr("tp=4"));
  EXPECT_THAT(layout_words(result.offers[1].layout), testing::Not(HasSubstr("pp=")));  // no machine varied it
  const std::string text = render_capacity_text(plan(), result);
  EXPECT_THAT(text, HasSubstr("machine  hosts  GPUs  tp"));
  EXPECT_THAT(text, testing::Not(HasSubstr("on each: tp=")));
}

TEST_F(Capacity, NamesSettingsOfAMachineWithoutEffect) {
  EXPECT_THAT(found("machines: [{name: a, set: {search.max_memory: 70GiB}}]\n").offers[0].notes, testing::IsEmpty());
  const CapacityResult idle = found("machines: [{name: b, set: {cluster.node.nic.bandwidth: 800Gbps}}]\n");
  EXPECT_THAT(idle.offers[0].notes, testing::Contains(HasSubstr("cluster.node.nic.bandwidth has no effect")));
  EXPECT_THAT(render_capacity_text(plan(), idle), HasSubstr("\n  b: cluster.node.nic.bandwidth has no effect"));
  EXPECT_THAT(render_capacity_json(plan(), idle), HasSubstr("\"notes\": [\"cluster.node.nic.bandwidth has"));
}

TEST_F(Capacity, WarnsOfAMachineWithThePriceOfAnotherGpu) {
  const CapacityResult result =
      found("machines: [{name: A100, set: {cluster.node.preset: dgx-a100, cost.preset: dgx-h100}}]\n");
  EXPECT_THAT(result.offers[0].notes,
              testing::Contains(HasSubstr("cost.gpu_watts is of H100-SXM5-80GB, and counts for every GPU")));
}

TEST_F(Capacity, TooManyGpusAreNotSearched) {
  const CapacityResult result = found(kTwoSizes + "budget: {gpus: 8}\n");
  EXPECT_EQ(result.offers[0].status, OfferStatus::kOk);
  EXPECT_EQ(result.offers[1].status, OfferStatus::kOverBudget);
  EXPECT_FALSE(result.offers[1].was_simulated());
  EXPECT_THAT(result.ranking, testing::ElementsAre(0));
}

TEST_F(Capacity, ALimitOfDaysLeavesOutSlowMachines) {
  const CapacityResult all = found(kTwoSizes);
  const double between = (all.offers[0].days + all.offers[1].days) / 2;
  const CapacityResult result = found(kTwoSizes + fmt::format("budget: {{days: {}}}\n", between));
  EXPECT_EQ(result.ranking.size(), 1U);
  EXPECT_THAT(render_capacity_text(plan(), result), HasSubstr("over budget"));
}

// On the front: the fastest, and the one with the fewest GPUs. A machine with NICs of half the speed and the same GPUs
// is not faster than the first on two hosts.
TEST_F(Capacity, TheFrontHasNoOfferThatAnotherDominates) {
  const CapacityResult result = found(kTwoSizes + "objective: gpus\n");
  EXPECT_TRUE(result.offers[result.ranking.front()].on_front);
  EXPECT_EQ(result.offers[result.ranking.front()].gpus, 8);
  for (const std::size_t a : result.ranking) {
    for (const std::size_t b : result.ranking) {
      const Offer& mine = result.offers[a];
      const Offer& other = result.offers[b];
      EXPECT_FALSE(mine.on_front && other.days < mine.days && other.gpus <= mine.gpus);
    }
  }
}

// Of all layouts of both sizes, as one search of each machine finds them: those that no other one beats.
TEST_F(Capacity, TheFrontOfLayoutsIsThatOfAllLayoutsOfAllMachines) {
  const CapacityResult result = found(
      kTwoSizes + fmt::format("set: {{cost.usd_per_gpu_hour: {}, search.recompute: [none, full]}}\n", kUsdPerGpuHour));
  struct Candidate {
    std::int64_t gpus;
    double seconds;
    std::int64_t memory;
  };
  std::vector<Candidate> all;
  for (const int hosts : {1, 2}) {
    const auto base = load_search_base(
        scenario_path(),
        {.overrides = {fmt::format("cluster.nodes={}", hosts), "search.recompute=[none, full]"}, .share_folders = {}},
        {});
    const auto searched = search(base->scenario, base->scenario.search, {.threads = 1});
    for (const Configuration& each : searched->ranked) {
      all.push_back({hosts * 8, to_seconds(each.quick->step_time.mean), each.fullest.total.count()});
    }
  }
  const auto money = [](const Candidate& each) { return each.seconds * static_cast<double>(each.gpus); };
  std::size_t expected = 0;
  for (const Candidate& mine : all) {
    expected += std::ranges::none_of(all, [&](const Candidate& other) {
      const bool as_good = other.seconds <= mine.seconds && other.gpus <= mine.gpus && money(other) <= money(mine) &&
                           other.memory <= mine.memory;
      return as_good && (other.seconds < mine.seconds || other.gpus < mine.gpus || other.memory < mine.memory);
    });
  }
  EXPECT_GT(expected, 2U);
  ASSERT_EQ(result.front.size(), expected);
  for (std::size_t i = 1; i < result.front.size(); ++i) EXPECT_LE(result.front[i - 1].days, result.front[i].days);
  for (const LayoutOffer& each : result.front) {
    const auto same = [&](const Candidate& other) {
      return other.gpus == each.gpus && other.memory == each.memory.count() &&
             std::abs(other.seconds - to_seconds(each.step)) < 1e-12;
    };
    EXPECT_TRUE(std::ranges::any_of(all, same));
    EXPECT_NEAR(each.usd.value(), each.days * 24 * static_cast<double>(each.gpus) * kUsdPerGpuHour, 1e-9 * *each.usd);
  }
  EXPECT_THAT(render_capacity_text(plan(), result), HasSubstr("All layouts on all machines"));
  EXPECT_THAT(render_capacity_json(plan(), result), HasSubstr("\"front\": ["));
}

TEST_F(Capacity, TheFrontOfLayoutsKeepsTheBudget) {
  const CapacityResult all = found(kTwoSizes + kPriced);
  const double most = all.front.front().days * 1.0001;
  const CapacityResult result = found(kTwoSizes + kPriced + fmt::format("budget: {{days: {}}}\n", most));
  ASSERT_FALSE(result.front.empty());
  EXPECT_LT(result.front.size(), all.front.size());
  for (const LayoutOffer& each : result.front) EXPECT_LE(each.days, most);
}

TEST_F(Capacity, EqualMachinesAreBothOnTheFront) {
  const CapacityResult result = found("machines: [{name: a}, {name: b}]\n");
  EXPECT_TRUE(result.offers[0].on_front);
  EXPECT_TRUE(result.offers[1].on_front);
}

TEST_F(Capacity, AnObjectiveOfMoneyNeedsPrices) {
  const auto result = study("machines: [{name: H100}]\nobjective: usd\n");
  ASSERT_FALSE(result);
  EXPECT_THAT(render(result.error()), HasSubstr("machine 'H100' has no price"));
}

// 24 GPUs: a multiple of 3 replicas, which do not share 16 sequences evenly.
TEST_F(Capacity, AMachineWithoutALegalLayoutSaysWhy) {
  const CapacityResult result = found("machines: [{name: H100, hosts: [3]}]\n");
  EXPECT_EQ(result.offers[0].status, OfferStatus::kRefused);
  EXPECT_THAT(result.offers[0].reason, HasSubstr("16"));
  EXPECT_TRUE(result.ranking.empty());
}

TEST_F(Capacity, MemoryThatIsTooSmallIsNamed) {
  const CapacityResult result = found("machines: [{name: H100, set: {search.max_memory: 1MiB}}]\n");
  EXPECT_EQ(result.offers[0].status, OfferStatus::kTooLarge);
  EXPECT_THAT(result.offers[0].reason, HasSubstr("of 1 MiB"));
}

// A step with a checkpoint takes seconds, and one of a thousand has it.
TEST_F(Capacity, CountsTheMeanStepBetweenCheckpoints) {
  const auto days = [&](const std::string& checkpoint) {
    const CapacityResult result =
        found("machines: [{name: a, set: {cost.usd_per_gpu_hour: 3.6" + checkpoint + "}}]\n");
    const Offer& offer = result.offers.at(0);
    EXPECT_NEAR(*offer.usd, offer.days * 24.0 * 8.0 * kUsdPerGpuHour, *offer.usd * 1e-9);
    for (const LayoutOffer& layout : result.front) EXPECT_NEAR(layout.days, offer.days, offer.days * 0.9);
    return offer.days;
  };
  const double often = days(", checkpoint: {to: storage, mode: blocking, every: 2, storage: {per_host: 10MB/s}}");
  const double seldom = days(", checkpoint: {to: storage, mode: blocking, every: 1000, storage: {per_host: 10MB/s}}");
  const double never = days("");
  EXPECT_NEAR((often - never) / (seldom - never), 500.0, 1.0);
}

}  // namespace
}  // namespace ringwright::planning::capacity_test
