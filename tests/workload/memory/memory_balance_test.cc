#include "workload/memory/memory_balance.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/workload/job_text.h"

namespace ringwright::workload::memory_balance_test {
namespace {

using namespace ringwright::literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

double neediest(std::span<const StageNeed> stages, std::span<const std::int64_t> split) {
  double most = 0.0;
  for (std::size_t i = 0; i < stages.size(); ++i) {
    most = std::max(most, stages[i].fixed + stages[i].per_layer * static_cast<double>(split[i]));
  }
  return most;
}

// All splits with at least one layer per stage.
double least_of_all(std::span<const StageNeed> stages, std::int64_t layers, std::vector<std::int64_t> split = {}) {
  if (split.size() + 1 == stages.size()) {
    split.push_back(layers);
    return neediest(stages, split);
  }
  double least = std::numeric_limits<double>::infinity();
  const auto others = static_cast<std::int64_t>(stages.size() - split.size() - 1);
  for (std::int64_t mine = 1; mine <= layers - others; ++mine) {
    std::vector<std::int64_t> longer = split;
    longer.push_back(mine);
    least = std::min(least, least_of_all(stages, layers - mine, longer));
  }
  return least;
}

TEST(SpreadByNeed, FindsWhatBruteForceFinds) {
  RandomStream random(7, "needs");
  for (int round = 0; round < 200; ++round) {
    std::vector<StageNeed> stages(2 + static_cast<std::size_t>(round % 3));
    for (StageNeed& stage : stages) stage = {.fixed = 5.0 * random.next_unit(), .per_layer = 0.1 + random.next_unit()};
    const std::int64_t layers = 4 + round % 6;
    const auto split = spread_by_need(stages, layers);
    EXPECT_EQ(std::accumulate(split.begin(), split.end(), std::int64_t{0}), layers);
    EXPECT_DOUBLE_EQ(neediest(stages, split), least_of_all(stages, layers)) << round;
  }
}

// 1F1B: of 4 stages, stage i holds 4 - i microbatches, so that needs of 4, 3, 2 and 1 per layer are equal at 3, 4, 6
// and 12 layers.
TEST(SpreadByNeed, GivesEarlyStagesFewerLayers) {
  const std::vector<StageNeed> stages{{0.0, 4.0}, {0.0, 3.0}, {0.0, 2.0}, {0.0, 1.0}};
  EXPECT_THAT(spread_by_need(stages, 25), ElementsAre(3, 4, 6, 12));
}

// The last stage's logits take as long as two layers: 18 layers over three stages take 7 seconds at best, with 7, 7 and
// 5 layers at most. Of such splits 7 + 6 + 5 needs no more than any other.
TEST(SpreadInTime, TakesTheLeastMemoryAmongTheFastest) {
  const std::vector<StageNeed> stages{{0.0, 1.0}, {0.0, 1.0}, {0.0, 1.0, 2.0}};
  EXPECT_EQ(spread_in_time(stages, 18, {.need = 100.0, .layer_seconds = 1.0}), (std::vector<std::int64_t>{7, 6, 5}));
}

// 1F1B's needs of 4, 3, 2 and 1 per layer: 8 layers of 32 fit on no early stage when a stage may need 20, which 5, 6,
// 10 and 20 layers do. Slowest of a split that fits: 11 layers (5 + 6 + 10 + 11 = 32).
TEST(SpreadInTime, MovesNoMoreLayersThanMemoryAsksFor) {
  const std::vector<StageNeed> stages{{0.0, 4.0}, {0.0, 3.0}, {0.0, 2.0}, {0.0, 1.0}};
  const StageLimits ample{.need = 32.0, .layer_seconds = 1.0};
  EXPECT_EQ(spread_in_time(stages, 32, ample), (std::vector<std::int64_t>{8, 8, 8, 8}));
  const StageLimits tight{.need = 20.0, .layer_seconds = 1.0};
  EXPECT_EQ(spread_in_time(stages, 32, tight), (std::vector<std::int64_t>{5, 6, 10, 11}));
  EXPECT_EQ(spread_in_time(stages, 32, {.need = 10.0, .layer_seconds = 1.0}), std::nullopt);  // 2 + 3 + 5 + 10
}

// Long sequences, small model: in-flight activations dominate.
JobText job(const std::string& parallel) {
  return JobText(
      "model: {num_layers: 24, hidden_size: 256, num_attention_heads: 8, vocab_size: 1000, seq_length: 4096}\n"
      "training: {global_batch: 16}\nparallel: {pp: 4" +
          parallel + "}\n",
      4);
}

Bytes fullest(const JobText& text, const ParallelOptions& parallel) {
  Bytes most;
  for (const StageMemory& stage :
       memory_ledger({.shape = text.shape, .training = text.training, .parallel = parallel}, {})) {
    most = std::max(most, stage.total());
  }
  return most;
}

// Every kernel takes equally long, and so does every layer.
class EvenTime final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& /*kernel*/) const override { return 1_us; }
};

std::vector<std::int64_t> balanced_in(Bytes capacity) {
  JobText balanced = job(", stage_layers: balanced-memory");
  EXPECT_THAT(balanced.problems(), testing::IsEmpty());
  ParallelOptions options = balanced.parallel;
  auto read = ConfigDocument::load_text("p.yaml", "parallel: {}\n");
  ConfigMap map = read->root().map("parallel", "");
  balance_memory(map, {.shape = balanced.shape, .training = balanced.training, .parallel = balanced.parallel}, {},
                 {.compute = EvenTime(), .capacity = capacity}, options);
  EXPECT_EQ(std::accumulate(options.layers_per_part.begin(), options.layers_per_part.end(), std::int64_t{0}), 24);
  return options.layers_per_part;
}

// Nine tenths of the need of even stages: they fit, and no stage has more than a layer beyond its even share of 6.
TEST(BalanceMemory, FitsWithTheFewestLayersOnTheSlowestStage) {
  const JobText even = job("");
  const Bytes capacity = scale(fullest(even, even.parallel), 0.9);
  ParallelOptions options = even.parallel;
  options.layers_per_part = balanced_in(capacity);
  EXPECT_LE(fullest(even, options), capacity);
  EXPECT_LE(std::ranges::max(options.layers_per_part), 7);
}

TEST(BalanceMemory, SharesMemoryWhereNothingFits) {
  const JobText even = job("");
  ParallelOptions options = even.parallel;
  options.layers_per_part = balanced_in(Bytes(1));
  EXPECT_TRUE(std::ranges::is_sorted(options.layers_per_part)) << "early stages hold more microbatches";
  EXPECT_LT(fullest(even, options).count() * 10, fullest(even, even.parallel).count() * 8);
}

TEST(BalanceMemory, WantsStagesOfOnePart) {
  const JobText chunks = job(", stage_layers: balanced-memory, schedule: interleaved-1f1b, virtual_stages: 2");
  EXPECT_THAT(chunks.problems(), testing::Contains(HasSubstr("balanced-memory needs stages with one model chunk")));
}

}  // namespace
}  // namespace ringwright::workload::memory_balance_test
