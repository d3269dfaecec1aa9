// A part of every shipped table, played and held against the errors that were reached, so that a change of a model
// shows where it makes predictions of whole training steps worse.
#include <cmath>

#include <gtest/gtest.h>

#include "validation/csv_table.h"
#include "validation/shipped_files.h"
#include "validation/training_cases.h"
#include "validation/training_score.h"

namespace ringwright::validation {
namespace {

struct Guard {
  const char* source;
  std::size_t every;    // of how many rows one is played
  double time;          // mean |error| that must hold
  double memory = 0.0;  // the same; 0: not measured
};

void PrintTo(const Guard& guard, std::ostream* out) {
  *out << guard.source;
}

class TrainingRegression : public ::testing::TestWithParam<Guard> {};

TEST_P(TrainingRegression, TheErrorReachedHolds) {
  const std::string folder = shipped_folder("training");
  const auto conventions = read_conventions(folder);
  ASSERT_TRUE(conventions) << render(conventions.error());
  const auto table = read_csv(folder + "/" + GetParam().source + ".csv").and_then([](const CsvTable& csv) {
    return read_training_rows(csv);
  });
  ASSERT_TRUE(table) << render(table.error());
  std::vector<TrainingRow> rows;
  for (std::size_t i = 0; i < table->rows.size(); i += GetParam().every) {
    const TrainingRow& row = table->rows[i];
    // Parameters sharded over a thousand GPUs: millions of messages, minutes of a test.
    if (row.sharding == "ZeRO-3" && row.gpus > 512) continue;
    rows.push_back(row);
  }
  const auto scores = score(play_rows(rows, *conventions, {}), *conventions, std::nullopt);
  ASSERT_EQ(scores.size(), 1U);
  EXPECT_GT(scores[0].time.count, 0U);
  EXPECT_LE(scores[0].time.mean_abs, GetParam().time);
  if (GetParam().memory > 0.0) {
    EXPECT_GT(scores[0].memory.count, 0U);
    EXPECT_LE(scores[0].memory.mean_abs, GetParam().memory);
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, TrainingRegression,
                         ::testing::Values(Guard{"korthikanti_recompute", 2, 0.06},
                                           Guard{"vtrain_ground_truth_multi", 8, 0.12},
                                           Guard{"vtrain_ground_truth_single", 97, 0.16},
                                           Guard{"megatron_gpt2_2020", 2, 0.08}, Guard{"zero_bubble", 4, 0.08, 0.06},
                                           Guard{"simumax_b200_real", 3, 0.12, 0.03}, Guard{"nemo_2407_h100", 4, 0.25},
                                           Guard{"torchtitan_bench", 4, 0.25}, Guard{"llm_foundry_mpt", 20, 0.25}),
                         [](const auto& guard) { return std::string(guard.param.source); });

}  // namespace
}  // namespace ringwright::validation
