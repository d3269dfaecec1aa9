// A subset of every shipped table, simulated and compared with the errors that were reached, so that a change of a
// model shows where it makes predictions of whole training steps worse.
#include <algorithm>

#include <gtest/gtest.h>

#include "validation/tables/csv_table.h"
#include "validation/tables/shipped_files.h"
#include "validation/training/cases.h"
#include "validation/training/score.h"

namespace ringwright::validation::training_regression_test {
namespace {

struct Guard {
  const char* source;   // key of its rule
  std::size_t every;    // one of how many rows is simulated
  double time;          // mean |error| that must hold
  double memory = 0.0;  // the same; 0: not measured
  std::size_t too_large = 0;  // rows that ran, and are not predicted to fit into memory
};

void PrintTo(const Guard& guard, std::ostream* out) {
  *out << guard.source;
}

class TrainingRegression : public ::testing::TestWithParam<Guard> {};

TEST_P(TrainingRegression, TheErrorReachedHolds) {
  const std::string folder = shipped_folder("training");
  const std::string source = GetParam().source;
  const auto conventions = read_conventions(folder);
  ASSERT_TRUE(conventions) << render(conventions.error());
  const auto table =
      read_csv(folder + "/" + source.substr(0, source.find('/')) + ".csv").and_then([](const CsvTable& csv) {
        return read_training_rows(csv);
      });
  ASSERT_TRUE(table) << render(table.error());
  std::vector<TrainingRow> rows;
  for (std::size_t i = 0; i < table->rows.size(); i += GetParam().every) {
    const TrainingRow& row = table->rows[i];
    if (conventions->find_source(row.source(), row.model)->key() == source) rows.push_back(row);
  }
  const auto scores =
      score(play_rows(rows, *conventions, {.overrides = {}, .large = LargeRows::kLeftOut}), *conventions, std::nullopt);
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_GT(scores[0].time.count, 0U);
  EXPECT_LE(scores[0].time.mean_abs, GetParam().time);
  EXPECT_LE(scores[0].too_large, GetParam().too_large);
  if (GetParam().memory > 0.0) {
    EXPECT_GT(scores[0].memory.count, 0U);
    EXPECT_LE(scores[0].memory.mean_abs, GetParam().memory);
  }
}

// A fifth above what was reached.
INSTANTIATE_TEST_SUITE_P(
    Shipped, TrainingRegression,
    ::testing::Values(Guard{"korthikanti_recompute", 2, 0.05}, Guard{"vtrain_ground_truth_multi", 8, 0.085},
                      Guard{"vtrain_ground_truth_single", 97, 0.080}, Guard{"megatron_gpt2_2020", 2, 0.038},
                      Guard{"megatron_sc21", 2, 0.072}, Guard{"zero_bubble", 4, 0.034, 0.050},
                      Guard{"simumax_b200_real", 3, 0.052, 0.0087}, Guard{"bloom_176b_tuning", 8, 0.083, 0.168},
                      Guard{"nemo_2407_h100", 4, 0.060, 0.0, 1}, Guard{"mlperf_training_llm/gpt3", 1, 0.112},
                      Guard{"mlperf_training_llm/lora", 5, 0.085},
                      Guard{"nvidia_dgxc_benchmarking", 5, 0.030}, Guard{"torchtitan_bench", 4, 0.055, 0.056},
                      Guard{"llm_foundry_mpt", 20, 0.075}),
    [](const auto& guard) {
      std::string name = guard.param.source;
      std::ranges::replace(name, '/', '_');
      return name;
    });

}  // namespace
}  // namespace ringwright::validation::training_regression_test
