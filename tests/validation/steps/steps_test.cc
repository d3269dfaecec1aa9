// Tables of measured steps: what is refused, how evaluations count, and the errors of the shipped tables.
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/shared_folder.h"
#include "planning/study/point.h"
#include "tests/support/own_folder.h"
#include "validation/builtin.h"
#include "validation/steps/step_rows.h"

namespace ringwright::validation::steps_test {
namespace {

using testing::HasSubstr;

// A table with these rows, in the folder of the running test.
std::string table_of(const std::string& rows) {
  const std::string path = test::own_folder() + "steps.csv";
  std::ofstream(path) << "# source: nobody\nid,name,group,scenario,set,step_s,evaluated,evaluation_set,note\n" << rows;
  return path;
}

double step_of(const std::vector<std::string>& settings) {
  const std::string path = shared_folder("configs") + "/scenarios/dlrm-dcnv2-8-h100.yaml";
  return to_seconds(planning::PointSource(path).simulate(settings).figures.step);
}

// The signed error of the only row, in percent.
double error_of(const std::string& row) {
  const auto outcome = validate_steps({.files = {table_of(row)}});
  EXPECT_TRUE(outcome.has_value()) << render(outcome.error());
  if (!outcome) return 0.0;
  const std::size_t at = outcome->json.find("\"error\": ");
  return at == std::string::npos ? 0.0 : 100.0 * std::stod(outcome->json.substr(at + 9));
}

TEST(Steps, AreComparedWithTheSimulatedStep) {
  const double step = step_of({});
  EXPECT_NEAR(error_of("a,me,g,dlrm-dcnv2-8-h100,," + std::to_string(step / 2.0) + ",,,\n"), 100.0, 0.1);
}

// Twice as many samples in an evaluation step count half for each trained sample.
TEST(Steps, CountEvaluationsBySamples) {
  const double trained = step_of({});
  const double evaluated = step_of({"recommendation.forward_only=true", "recommendation.global_batch=110592"});
  const double mean = trained + 0.5 * evaluated / 2.0;
  EXPECT_NEAR(error_of("a,me,g,dlrm-dcnv2-8-h100,," + std::to_string(mean) +
                       ",0.5,recommendation.forward_only=true;recommendation.global_batch=110592,\n"),
              0.0, 0.1);
}

TEST(Steps, RowsThatCannotBeSimulatedAreNamed) {
  const std::string table = table_of(
      "a,me,g,dlrm-dcnv2-8-h100,,0.004,,,\n"
      "b,you,g,dlrm-dcnv2-8-h100,recommendation.global_batch=55295,0.004,,,\n"
      "c,them,g,,,0.004,,,no preset of this GPU\n");
  const auto outcome = validate_steps({.files = {table}});
  ASSERT_TRUE(outcome.has_value()) << render(outcome.error());
  EXPECT_THAT(outcome->text, HasSubstr("not compared: b (you)"));
  EXPECT_THAT(outcome->text, HasSubstr("not compared: c (them): no preset of this GPU"));
}

TEST(Steps, RowsThatContradictThemselvesAreRefused) {
  for (const auto& [row, why] :
       {std::pair("a,me,g,dlrm-dcnv2-8-h100,,,,,\n", "step_s"), std::pair("a,me,g,,,0.1,,,\n", "does not say why"),
        std::pair("a,me,g,dlrm-dcnv2-8-h100,,0,,,\n", "has no time"),
        std::pair("a,me,g,dlrm-dcnv2-8-h100,,0.1,0.5,,\n", "only one of"),
        std::pair("a,me,g,dlrm-dcnv2-8-h100,,0.1,,x=1,\n", "only one of")}) {
    const auto outcome = validate_steps({.files = {table_of(row)}});
    ASSERT_FALSE(outcome.has_value()) << row;
    EXPECT_THAT(render(outcome.error()), HasSubstr(why)) << row;
  }
  const auto refused = validate_steps({.files = {table_of("c,them,g,,,0.004,,,no preset\n")}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(render(refused.error()), HasSubstr("E166"));
}

// The medians of MLPerf's submissions on these machines. Without fused kernels, predicted tokens or attention in fp8
// predictions are 14 to 34 % too slow (docs/bert.md).
TEST(Steps, BertOnOneHostTakesAsLongAsInMlPerf) {
  EXPECT_NEAR(error_of("a,me,8 H100,bert-large-8-h100,,0.1014,,,\n"), 0.0, 4.0);
  EXPECT_NEAR(error_of("b,me,8 A100,bert-large-8-a100,,0.1753,,,\n"), 0.0, 4.0);
}

// No constant was fitted to these rows. The means over groups of GPUs are on docs/validation-steps.md.
TEST(Steps, ErrorsOfTheShippedTablesHold) {
  const auto outcome = validate_steps({.threshold = 0.24});
  ASSERT_TRUE(outcome.has_value()) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
}

}  // namespace
}  // namespace ringwright::validation::steps_test
