#include "validation/training/shipped_models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/tables/shipped_files.h"
#include "validation/training/conventions.h"
#include "validation/training/scenario.h"

namespace ringwright::validation::shipped_models_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The row that docs/training-tables.md shows.
TrainingRow shown_row() {
  TrainingRow row;
  row.id = "ours-001";
  row.model = "gpt3-175b";
  row.gpu = "A100-SXM4-80GB";
  row.framework = "Megatron-LM";
  row.gpus = 64;
  row.tp = row.pp = 8;
  row.micro_batch = 1;
  row.global_batch = 64;
  return row;
}

TEST(ShippedModels, ARowMayNameOneInsteadOfStatingItsStructure) {
  TrainingRow row = shown_row();
  take_shipped_models({&row, 1});
  EXPECT_EQ(row.layers, 96);
  EXPECT_EQ(row.shipped_model, "gpt3-175b");
}

TEST(ShippedModels, ARowWithAStructureKeepsIt) {
  TrainingRow row = shown_row();
  row.layers = 24;
  row.hidden = 1024;
  take_shipped_models({&row, 1});
  EXPECT_EQ(row.layers, 24);
  EXPECT_EQ(row.shipped_model, "gpt3-175b");
}

TEST(ShippedModels, NamesMayBeWrittenAsPeopleDo) {
  TrainingRow row = shown_row();
  for (const auto& [written, preset] :
       {std::pair("GPT-3 175B", "gpt3-175b"), std::pair("Llama 3.1 405B", "llama3.1-405b"),
        std::pair("Qwen3_30B-A3B", "qwen3-30b-a3b"), std::pair("GPT-3", "")}) {
    row = shown_row();
    row.model = written;
    take_shipped_models({&row, 1});
    EXPECT_EQ(row.shipped_model, preset) << written;
    EXPECT_EQ(row.layers.has_value(), !std::string_view(preset).empty()) << written;
  }
}

TEST(ShippedModels, ARowWithoutAFrameworkNeedsOne) {
  const auto conventions = read_conventions(shipped_folder("training"));
  ASSERT_TRUE(conventions.has_value()) << render(conventions.error());
  TrainingRow row = shown_row();
  row.framework.clear();
  EXPECT_THAT(make_scenario(row, *conventions).error().reason, HasSubstr("it names no `framework`"));
  EXPECT_THAT(conventions->known_frameworks(), AllOf(HasSubstr("MaxText, PaxML"), HasSubstr(", NeMo, ")));
}

TEST(ShippedModels, ItsPresetIsTheModelOfTheScenario) {
  const auto conventions = read_conventions(shipped_folder("training"));
  ASSERT_TRUE(conventions.has_value()) << render(conventions.error());
  TrainingRow row = shown_row();
  take_shipped_models({&row, 1});
  row.sequence = 1024;
  const auto scenario = make_scenario(row, *conventions);
  ASSERT_TRUE(scenario.has_value()) << scenario.error().reason;
  EXPECT_THAT(scenario->yaml, HasSubstr("model: {preset: gpt3-175b, seq_length: 1024}"));
  EXPECT_THAT(scenario->yaml, Not(HasSubstr("num_layers")));
}

}  // namespace
}  // namespace ringwright::validation::shipped_models_test
