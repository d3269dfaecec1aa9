// Parameters of the shipped models compared with their papers, model cards and checkpoints.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::published_models_test {
namespace {

ModelShape shape_of(const std::string& preset) {
  const JobText job("model: {preset: " + preset + "}\ntraining: {global_batch: 1}\nparallel: {}\n", 1);
  EXPECT_THAT(job.problems(), testing::IsEmpty()) << preset;
  return job.shape;
}

struct Published {
  const char* preset;
  double parameters;
  double relative;  // the figure's own rounding, and deliberate omissions
};

TEST(PublishedModels, HaveTheirPublishedParameters) {
  const std::vector<Published> all = {
      // Numbers of elements of the checkpoints.
      {"mixtral-8x7b", 46'702'792'704, 0.0},
      {"qwen3-30b-a3b", 30'532'122'624, 0.0},
      {"qwen3-235b-a22b", 235'093'634'560, 0.0},
      {"deepseek-v2-lite", 15'706'484'224, 0.0},
      {"deepseek-v2", 235'741'434'880, 0.0},
      {"gpt-oss-20b", 20'914'757'184, 0.0},
      {"gpt-oss-120b", 116'829'156'672, 0.0},
      {"llama2-13b", 13'015'864'320, 0.0},
      {"bloom-176b", 176'247'271'424, 2e-7},   // without the norm after the embedding
      {"deepseek-v3", 671'026'419'200, 3e-8},  // without the bias of the router's choice
      {"bert-large", 335'141'888, 3.2e-3},  // without token types and pooler
      {"nemotron-h-8b", 8'100'852'736, 0.0},
      {"nemotron-3-super-120b-a12b", 120'668'687'360, 0.0},  // 123'611'012'096 less multi-token prediction
      // Figures of papers and tables, to their last digit.
      {"nemotron-h-56b", 56e9, 6e-3},
      {"nemotron-3-nano-30b-a3b", 31.6e9, 1e-3},
      {"mixtral-8x22b", 141e9, 4e-3},
      {"grok-1", 314e9, 6e-3},
      {"opt-175b", 175e9, 4e-3},
      {"gpt-neox-20b", 20'554'567'680, 0.0},
      {"falcon-40b", 41'303'293'952, 0.0},
      {"gpt-j-6b", 6'050'882'784, 1e-4},  // with biases in the attention, without those of the output layer
      {"palm-540b", 540.35e9, 2e-4},
      {"nemotron-15b", 15.6e9, 4e-3},
      {"nemotron-340b", 341e9, 2e-3},
      {"megatron-1.7b", 1.7e9, 3e-2},
      {"megatron-3.6b", 3.6e9, 1.5e-2},
      {"megatron-7.5b", 7.5e9, 1e-2},
      {"megatron-18b", 18.4e9, 4e-3},
      {"megatron-39b", 39.1e9, 2e-3},
      {"megatron-76b", 76.1e9, 2e-3},
      {"megatron-310b", 310.1e9, 1e-3},
      {"gpt3-5b", 5e9, 2e-2},
      {"gpt3-20b", 20e9, 2e-2},
      {"megascale-175b", 175e9, 1e-2},
      {"megascale-530b", 530e9, 1e-2},
      {"nemotron-8b", 8e9, 8e-2},  // 8.5 B with its untied embeddings
      {"nemotron-22b", 22e9, 5e-2},
      {"zero-bubble-1.5b", 1.5e9, 3e-2},
      {"zero-bubble-6.2b", 6.2e9, 2e-2},
      {"zero-bubble-14.6b", 14.6e9, 1e-2},
      {"zero-bubble-28.3b", 28.3e9, 1e-2},
      {"mpt-125m", 0.1253e9, 1e-2},
      {"mpt-350m", 0.356e9, 1e-2},
      {"mpt-760m", 0.7605e9, 1e-2},
      {"mpt-1b", 1.316e9, 1e-2},
      {"mpt-3b", 2.6518e9, 1e-2},
      {"mpt-7b", 6.6589e9, 2e-4},
      {"mpt-13b", 12.8644e9, 1e-3},
      {"mpt-30b", 29.9752e9, 1e-3},
      {"mpt-70b", 64.8624e9, 1e-3},
  };
  for (const Published& model : all) {
    const auto ours = static_cast<double>(parameters(shape_of(model.preset)));
    EXPECT_LE(std::abs(ours / model.parameters - 1.0), model.relative) << model.preset << " has " << std::fixed << ours;
  }
}

TEST(PublishedModels, ActivateTheirPublishedParametersForEachToken) {
  const std::vector<Published> all = {
      {"mixtral-8x7b", 12.9e9, 5e-3},
      {"mixtral-8x22b", 39e9, 1e-2},
      {"qwen3-30b-a3b", 3.3e9, 2e-2},
      {"qwen3-235b-a22b", 22e9, 2e-2},
      {"deepseek-v2", 21e9, 2e-2},
      {"deepseek-v3", 37e9, 2e-2},
      {"gpt-oss-20b", 3.61e9, 1.7e-1},
      {"gpt-oss-120b", 5.13e9, 1.2e-1},                     // the card omits the embedding
      {"nemotron-3-super-120b-a12b", 12'770'216'960, 0.0},  // of the checkpoint's tensors
  };
  for (const Published& model : all) {
    const auto ours = static_cast<double>(active_parameters(shape_of(model.preset)));
    EXPECT_LE(std::abs(ours / model.parameters - 1.0), model.relative) << model.preset << " has " << std::fixed << ours;
  }
}

// The formula of systems' papers for GPT, 12lh^2 (1 + 13/(12h) + (V + s)/(12lh)), Narayanan et al. (SC 2021), eq. 2.
TEST(PublishedModels, GptCountsAreThoseOfTheFormula) {
  for (const char* preset : {"gpt3-175b", "gpt2-1.5b", "megatron-39b", "megatron-310b"}) {
    const ModelShape shape = shape_of(preset);
    const auto l = static_cast<double>(shape.layers);
    const auto h = static_cast<double>(shape.hidden);
    const auto rows = static_cast<double>(shape.vocabulary + shape.max_positions);
    const double formula = 12.0 * l * h * h * (1.0 + 13.0 / (12.0 * h) + rows / (12.0 * l * h));
    EXPECT_NEAR(static_cast<double>(parameters(shape)) / formula, 1.0, 1e-5) << preset;
  }
}

}  // namespace
}  // namespace ringwright::workload::published_models_test
