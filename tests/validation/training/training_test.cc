#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"
#include "validation/builtin.h"

namespace ringwright::validation::training_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const std::string kColumns = "id,model,gpu,n_gpus,tp,pp,mbs,gbs,framework,precision,recompute,step_time_s,mem_gib\n";

std::string write(const std::string& name, const std::string& rows) {
  const std::string path = test::own_folder() + "training_test_" + name + ".csv";
  std::ofstream(path) << kColumns << rows;
  return path;
}

// Weights, gradients and optimizer of GPT-3 are 18 bytes per parameter: 3.15 TB on 8 GPUs of 80 GB, but 49 GB on 64.
TEST(ValidateTraining, ARowThatDoesNotFitIntoMemoryIsReportedWithItsLine) {
  const auto outcome =
      validate_training({.files = {write("memory",
                                         "a-1,gpt3-175b,A100-SXM4-80GB,64,8,8,1,8,Megatron-LM,bf16,full,5,\n"
                                         "a-2,gpt3-175b,A100-SXM4-80GB,8,8,1,1,8,Megatron-LM,bf16,full,50,\n")}});
  ASSERT_TRUE(outcome) << render(outcome.error());
  const std::string warnings = render(outcome->warnings);
  EXPECT_THAT(warnings, HasSubstr("memory.csv:3:1: warning[W170]: row 'a-2' is compared, but does not fit into GPU "
                                  "memory: stage 0 needs"));
  EXPECT_THAT(warnings, Not(HasSubstr("a-1")));
  EXPECT_THAT(outcome->json, HasSubstr("\"shortage\": \"stage 0 needs"));
}

TEST(ValidateTraining, TwoRowsWithOneIdAreRefused) {
  const std::string row = "a-1,gpt3-175b,A100-SXM4-80GB,64,8,8,1,8,Megatron-LM,bf16,full,5,\n";
  const auto twice = validate_training({.files = {write("twice", row + row)}});
  ASSERT_FALSE(twice);
  EXPECT_THAT(render(twice.error()), HasSubstr("twice.csv:3:1: error[E161]: "));
  EXPECT_THAT(render(twice.error()), HasSubstr("twice.csv:2 has the id 'a-1' as well"));
  const auto files = validate_training({.files = {write("first", row), write("second", row)}});
  ASSERT_FALSE(files);
  EXPECT_THAT(render(files.error()), HasSubstr("second.csv:2:1: error[E161]: "));
}

TEST(ValidateTraining, MeasuredMemoryOfAUsersTableIsCompared) {
  const auto outcome = validate_training(
      {.files = {write("gib", "a-1,gpt3-175b,A100-SXM4-80GB,64,8,8,1,8,Megatron-LM,bf16,full,5,60\n")}});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_THAT(outcome->json, HasSubstr("\"measured_gib\": 60, "));
}

// 8 sequences of 2048 tokens in 5 s on 64 GPUs are 51.2 tokens/s of each.
TEST(ValidateTraining, ARateThatContradictsTheTimeIsNamed) {
  const auto warnings = [](const std::string& rate) {
    const std::string path = test::own_folder() + "training_test_rate.csv";
    std::ofstream(path) << "id,model,gpu,n_gpus,tp,pp,mbs,gbs,framework,precision,recompute,step_time_s,tok_s_gpu\n"
                           "a-1,gpt3-175b,A100-SXM4-80GB,64,8,8,1,8,Megatron-LM,bf16,full,5," +
                               rate + "\n";
    const auto outcome = validate_training({.files = {path}});
    return outcome ? render(outcome->warnings) : render(outcome.error());
  };
  EXPECT_THAT(warnings("52"), Not(HasSubstr("W171")));
  EXPECT_THAT(warnings("512"), HasSubstr("training_test_rate.csv:2:65: warning[W171]: row 'a-1' states steps of 5 s, "
                                         "and by its tokens/s they take 0.5 s"));
}

}  // namespace
}  // namespace ringwright::validation::training_test
