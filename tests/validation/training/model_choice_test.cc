#include "validation/training/model_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::model_choice_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::Not;

auto sets(std::string path, std::string value) {
  return Contains(AllOf(Field(&Setting::path, std::move(path)), Field(&Setting::value, std::move(value))));
}

// Llama 2 7B's sizes, under a name that no rule knows.
TrainingRow unknown_row() {
  TrainingRow row;
  row.id = "ours-001";
  row.model = "ours-7b";
  row.layers = 32;
  row.hidden = 4096;
  row.heads = 32;
  row.ffn = 11008;
  row.vocabulary = 32000;
  row.sequence = 4096;
  row.billions = 6.74;
  return row;
}

TrainingConventions conventions() {
  TrainingConventions result;
  result.models.push_back({{.words = {"gpt"}}, "gpt3-175b", true});
  return result;
}

TEST(ModelChoice, ParametersShowTheStructureOfAnUnknownModel) {
  const auto choice = choose_model(unknown_row(), conventions(), false);
  ASSERT_TRUE(choice.has_value()) << choice.error();
  EXPECT_THAT(choice->settings, sets("model.activation", "swiglu"));
  EXPECT_THAT(choice->settings, sets("model.untie_embeddings_and_output_weights", "true"));
  EXPECT_THAT(choice->settings, sets("model.ffn_hidden_size", "11008"));
  EXPECT_THAT(choice->assumed,
              ElementsAre("a decoder with a gated MLP and separate embeddings, as its 6.74 billion parameters show"));
}

// GPT-3 6.7B: 32 layers of 12 h^2, embeddings shared.
TEST(ModelChoice, AnMlpWithoutAGateHasFewerParameters) {
  TrainingRow row = unknown_row();
  row.ffn = 16384;
  row.vocabulary = 50304;
  row.billions = 6.65;
  const auto choice = choose_model(row, conventions(), false);
  ASSERT_TRUE(choice.has_value()) << choice.error();
  EXPECT_THAT(choice->settings, sets("model.activation", "gelu"));
  EXPECT_THAT(choice->settings, sets("model.untie_embeddings_and_output_weights", "false"));
}

TEST(ModelChoice, ExpertsCount) {
  TrainingRow row = unknown_row();
  row.ffn = row.expert_ffn = 14336;
  row.kv_heads = 8;
  row.experts = 8;
  row.top_k = 2;
  row.billions = 46.7;
  const auto choice = choose_model(row, conventions(), false);
  ASSERT_TRUE(choice.has_value()) << choice.error();
  EXPECT_THAT(choice->settings, sets("model.num_experts", "8"));
  EXPECT_THAT(choice->assumed, ElementsAre(HasSubstr("gated experts")));
}

TEST(ModelChoice, OtherParametersThanItsSizesGiveAreNoKnownStructure) {
  TrainingRow row = unknown_row();
  row.billions = 9.5;
  EXPECT_EQ(choose_model(row, conventions(), false).error(),
            "no known model has the structure of 'ours-7b', and a decoder of its sizes has 6.738 billion parameters, "
            "not 9.5");
}

TEST(ModelChoice, WhatAnUnknownModelHasToState) {
  TrainingRow row = unknown_row();
  row.billions.reset();
  EXPECT_THAT(choose_model(row, conventions(), false).error(), HasSubstr("its parameters (params_b)"));
  row = unknown_row();
  row.heads.reset();
  EXPECT_THAT(choose_model(row, conventions(), false).error(), HasSubstr("layers, hidden, heads, ffn, vocab and seq"));
}

TEST(ModelChoice, AShippedModelOfTheVeryNameComesBeforeRulesForWords) {
  TrainingRow row = unknown_row();
  row.model = "gpt-neox-20b";
  EXPECT_THAT(choose_model(row, conventions(), false)->settings, sets("model.preset", "gpt3-175b"));
  row.shipped_model = "gpt-neox-20b";
  row.head_size = 128;  // hidden / heads, as most tables state it
  const auto choice = choose_model(row, conventions(), false);
  EXPECT_THAT(choice->settings, sets("model.preset", "gpt-neox-20b"));
  EXPECT_THAT(choice->settings, sets("model.num_layers", "32"));
  EXPECT_THAT(choice->settings, Not(Contains(Field(&Setting::path, "model.kv_channels"))));
}

}  // namespace
}  // namespace ringwright::validation::model_choice_test
