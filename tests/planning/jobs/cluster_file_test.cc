#include "planning/jobs/cluster_file.h"

#include <algorithm>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "planning/jobs/cluster_study.h"
#include "tests/support/own_folder.h"

namespace ringwright::planning::cluster_file_test {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string problems(const std::string& rest) {
  const auto plan = load_cluster_plan_text("week.yaml", "cluster: {hosts: 2, gpus_per_host: 8}\n" + rest);
  return plan ? std::string() : render(plan.error());
}

TEST(ClusterFile, AMistakeOfALogHasItsLine) {
  const std::string log = test::own_folder() + "cluster_file_test.csv";
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

// 0.28 * 10'000 may be less than 2'800 in binary. Eight eighths and three thirds of a GPU are one.
TEST(ClusterFile, PartsOfALogAreExact) {
  const std::string log = test::own_folder() + "cluster_file_parts.csv";
  std::ofstream(log) << "submit_s,gpus,run_s\n0,0.07,1\n0,0.14,1\n0,0.28,1\n0,0.57,1\n0,0.125,1\n0,0.3333333,1\n";
  const auto plan =
      load_cluster_plan_text("week.yaml", "cluster: {hosts: 1}\njobs: {log: " + log + ", form: csv, most: 4}\n");
  ASSERT_TRUE(plan);
  std::vector<int> shares;
  for (const ClusterJob& job : plan->jobs) shares.push_back(job.share);
  EXPECT_THAT(shares, testing::ElementsAre(700, 1'400, 2'800, 5'700, kWholeGpu / 8, kWholeGpu / 3));
  EXPECT_EQ(plan->jobs.front().most, 1);  // a part does not grow
}

// The jobs of one GPU of a cluster of one, all submitted at once; `parts` of a GPU each.
int most_at_once(const std::vector<double>& parts, const std::string& jobs, const std::string& sharing = "") {
  const std::string log = test::own_folder() + "cluster_file_at_once.csv";
  std::ofstream file(log);
  file << "submit_s,gpus,run_s\n";
  for (const double part : parts) file << "0," << part << ",100\n";
  file.close();
  const auto plan = load_cluster_plan_text(
      "one.yaml", "cluster: {hosts: 1, gpus_per_host: 1}\njobs: {log: " + log + ", form: csv" + jobs + "}\n" + sharing);
  if (!plan) return 0;
  const auto study = study_cluster(*plan);
  return study ? static_cast<int>(std::ranges::count(study->policies[0].waiting_quantiles, 0.0)) : 0;
}

TEST(ClusterFile, AsManyJobsShareAGpuAsPerGpuSays) {
  for (int most = 2; most <= 16; ++most) {
    const std::string sharing = "sharing: {kind: time_slicing, per_gpu: " + std::to_string(most) + "}\n";
    EXPECT_EQ(most_at_once(std::vector<double>(20, 1.0), "", sharing), most);
  }
}

// NVIDIA's MIG user guide: seven slices of compute and eight of memory, of which instances of 1, 2, 3, 4 and 7 slices
// have 1, 2, 4, 4 and 8.
TEST(ClusterFile, MigInstancesFitWhereSlicesAndMemoryDo) {
  struct Instance {
    double part;
    int slices;
    int eighths;
  };
  const std::vector<Instance> kinds{{1.0 / 7, 1, 1}, {2.0 / 7, 2, 2}, {3.0 / 7, 3, 4}, {4.0 / 7, 4, 4}};
  for (std::size_t code = 0; code < 256; ++code) {  // all lists of four
    std::vector<double> parts;
    int slices = 0;
    int eighths = 0;
    for (std::size_t digit = code, i = 0; i < 4; ++i, digit /= 4) {
      parts.push_back(kinds[digit % 4].part);
      slices += kinds[digit % 4].slices;
      eighths += kinds[digit % 4].eighths;
    }
    EXPECT_EQ(most_at_once(parts, ", mig: true") == 4, slices <= 7 && eighths <= 8) << code;
  }
  EXPECT_EQ(most_at_once(std::vector<double>(9, 1.0 / 7), ", mig: true"), 7);
  EXPECT_EQ(most_at_once({0.4, 0.1, 0.1, 0.1, 0.1, 0.1}, ", mig: true"), 5);
}

TEST(ClusterFile, SuggestsShippedNames) {
  const auto plan = load_cluster_plan("shared-wek", {});
  ASSERT_FALSE(plan.has_value());
  EXPECT_THAT(render(plan.error()), HasSubstr("did you mean 'shared-week'?"));
}

}  // namespace
}  // namespace ringwright::planning::cluster_file_test
