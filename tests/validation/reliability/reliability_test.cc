#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "validation/builtin.h"
#include "validation/reliability/reliability_cases.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation::reliability_test {
namespace {

// Every shipped case within the mean of 15 %, and every bound holds; with fewer lives than the page has.
TEST(Reliability, ShippedCasesPass) {
  const auto outcome = validate_reliability({.overrides = {"repetitions=6"}});
  ASSERT_TRUE(outcome.has_value()) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
  EXPECT_NE(outcome->markdown.find("airesim base hours"), std::string::npos);
  EXPECT_EQ(outcome->text.find("unlike measured"), std::string::npos);
}

TEST(Reliability, AThresholdThatIsNotMetFails) {
  const auto outcome = validate_reliability({.overrides = {"repetitions=1"}, .threshold = 0.0001});
  ASSERT_TRUE(outcome.has_value());
  EXPECT_FALSE(outcome->passed);
}

TEST(Reliability, MistakesHaveTheirPlace) {
  const std::string path = testing::TempDir() + "ringwright_reliability_" + std::to_string(::getpid()) + ".csv";
  std::ofstream(path) << "id,operation,set,policy,metric,measured,role,source\na,airesim,,,speed,1,guess,me\n";
  const auto cases = read_reliability_cases(path);
  std::filesystem::remove(path);
  ASSERT_FALSE(cases.has_value());
  EXPECT_EQ(cases.error().error_count(), 2U);
  EXPECT_EQ(cases.error().all().front().place.line, 2);
}

}  // namespace
}  // namespace ringwright::validation::reliability_test
