#include "planning/jobs/cluster_file.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"

namespace ringwright::planning::cluster_file_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string problems(const std::string& rest) {
  const auto plan = load_cluster_plan_text("week.yaml", "cluster: {hosts: 2, gpus_per_host: 8}\n" + rest);
  return plan ? std::string() : render(plan.error());
}

TEST(ClusterFile, AMistakeOfALogHasItsLine) {
  const std::string log = testing::TempDir() + "cluster_file_test.csv";
  std::ofstream(log) << "submit_s,gpus,run_s\n0,8,100\n5,8,soon\n";
  const std::string said = problems("jobs: {log: " + log + ", form: csv}\n");
  EXPECT_THAT(said, HasSubstr("week.yaml:2:13: error[E490]: " + log + ":3: submit_s is '5' and run_s 'soon'"));
}

TEST(ClusterFile, ALogOfAnUnknownFormIsNotRead) {
  const std::string said = problems("jobs: {log: none.csv}\n");
  EXPECT_THAT(said, HasSubstr("missing key 'jobs.form'"));
  EXPECT_THAT(said, Not(HasSubstr("E490")));
}

TEST(ClusterFile, EachPolicyIsListedOnce) {
  EXPECT_THAT(problems("jobs: {count: 10, span: 1h}\nscheduler: {policies: [fifo, sjf, fifo]}\n"),
              HasSubstr("'fifo' is listed twice"));
}

TEST(ClusterFile, SeveralUnitsAreNoFasterThanOne) {
  const std::string jobs = "jobs: {count: 10, gpus: [1], weights: [1]}\n";
  EXPECT_THAT(problems(jobs + "speed: {unit: 40%, fabric: 100%}\n"), HasSubstr("'speed.fabric' is above 'speed.unit'"));
  EXPECT_EQ(problems(jobs + "speed: {unit: 40%}\nscheduler: {locality: relaxed}\n"), "");
}

TEST(ClusterFile, MostJobsMayRunAsLongAsTheMedian) {
  const std::string jobs = "jobs: {count: 10, gpus: [1], weights: [1], median: 100h";
  EXPECT_THAT(problems(jobs + "}\n"), HasSubstr("'jobs.median' is above 'jobs.longest'"));
  EXPECT_EQ(problems(jobs + ", longest: 200h}\n"), "");
}

// 28 % of a GPU are two of seven slices, and 0.28 * 100 is more than 28 in binary.
TEST(ClusterFile, PartsOfALogAreExact) {
  const std::string log = testing::TempDir() + "cluster_file_parts.csv";
  std::ofstream(log) << "submit_s,gpus,run_s\n0,0.07,1\n0,0.14,1\n0,0.28,1\n0,0.57,1\n0,0.281,1\n";
  const auto plan =
      load_cluster_plan_text("week.yaml", "cluster: {hosts: 1}\njobs: {log: " + log + ", form: csv, most: 4}\n");
  ASSERT_TRUE(plan);
  std::vector<int> percent;
  for (const ClusterJob& job : plan->jobs) percent.push_back(job.percent);
  EXPECT_THAT(percent, testing::ElementsAre(7, 14, 28, 57, 29));
  EXPECT_EQ(plan->jobs.front().most, 1);  // a part does not grow
}

TEST(ClusterFile, SuggestsShippedNames) {
  const auto plan = load_cluster_plan("shared-wek", {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(render(plan.error()), HasSubstr("did you mean 'shared-week'?"));
}

}  // namespace
}  // namespace ringwright::planning::cluster_file_test
