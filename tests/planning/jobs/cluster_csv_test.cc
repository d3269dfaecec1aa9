#include <fstream>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/jobs/cluster_study.h"
#include "tests/support/own_folder.h"

namespace ringwright::planning::cluster_csv_test {
namespace {

using testing::EndsWith;

struct Studied {
  ClusterPlan plan;
  ClusterStudy study;
};

Studied studied(const std::string& text) {
  auto plan = load_cluster_plan_text("cluster.yaml", text);
  if (!plan) throw std::runtime_error(render(plan.error()));
  auto study = study_cluster(*plan);
  if (!study) throw std::runtime_error(render(study.error()));
  return {std::move(*plan), std::move(*study)};
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// Of two GPUs the second job needs both: it starts at 100 s, and the third, of a quarter, before it.
TEST(ClusterCsv, HasARowForEachPolicyAndJob) {
  const std::string folder = test::own_folder();
  write(folder + "log.csv", "submit_s,gpus,run_s,name,type\n5,1,100,\"a, first\",bert\n15,2,50,b,\n25,0.25,40,c,\n");
  const Studied two = studied("cluster: {hosts: 2, gpus_per_host: 1}\njobs: {form: csv, log: " + folder +
                              "log.csv}\nscheduler: {policies: [fifo, srtf]}\n");
  const std::string text = render_cluster_csv(two.plan, two.study);
  EXPECT_THAT(text.substr(0, text.find("srtf")),
              EndsWith("fifo,\"a, first\",bert,0,1,100,0,0,100,0,100,1,host\n"
                       "fifo,b,,10,2,50,0,100,150,90,50,1,unit\n"
                       "fifo,c,,20,0.25,40,0,20,60,0,40,1,host\n"));
  // The shorter one stops the first at 10 s, and the quarter goes on alone in the order at 60 s.
  EXPECT_THAT(text, EndsWith("srtf,\"a, first\",bert,0,1,100,0,0,180,50,130,2,host\n"
                             "srtf,b,,10,2,50,0,10,60,0,50,1,unit\n"
                             "srtf,c,,20,0.25,40,0,60,100,40,40,1,host\n"));
}

TEST(ClusterCsv, IsALogOfTheSameJobs) {
  const std::string folder = test::own_folder();
  const std::string cluster = "cluster: {hosts: 4, gpus_per_host: 4, hosts_per_unit: 2}\n";
  const Studied made = studied(cluster +
                               "jobs: {count: 200, span: 10h, median: 10min, gpus: [1, 2, 4, 8], "
                               "weights: [4, 2, 2, 1], part: 33.34%}\n");
  write(folder + "log.csv", render_cluster_csv(made.plan, made.study));
  const Studied read = studied(cluster + "jobs: {form: csv, log: " + folder + "log.csv}\n");
  const PolicyResult& first = made.study.policies.front();
  const PolicyResult& second = read.study.policies.front();
  EXPECT_NEAR(second.completion.mean, first.completion.mean, 1e-6);
  EXPECT_NEAR(second.waiting.longest, first.waiting.longest, 1e-6);
  EXPECT_NEAR(second.totals.allocated, first.totals.allocated, 1e-3);
}

}  // namespace
}  // namespace ringwright::planning::cluster_csv_test
