#include "core/plan/merged_jobs.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::merged_jobs_test {
namespace {

using testing::ElementsAre;

// Two ranks in one group of each dimension: each computes and joins a collective of the last one.
TaskGraph job_with(const std::vector<std::string>& dimensions) {
  TaskGraph graph;
  graph.labels = {"work", "exchange"};
  graph.works = {{.name = "work", .kernels = {}}};
  graph.collectives = {{.kind = CollectiveKind::kAllReduce, .bytes = Bytes(100)}};
  graph.program_of.assign(2, ProgramId(0));
  for (const std::string& name : dimensions) {
    Dimension& dimension = graph.dimensions.emplace_back();
    dimension.name = name;
    dimension.groups = {{RankId(0), RankId(1)}};
    index_groups(dimension, 2);
  }
  Program& program = graph.programs.emplace_back();
  program.name = "all";
  program.tasks = {{.kind = TaskKind::kCompute},
                   {.kind = TaskKind::kCollective, .dimension = DimensionId(dimensions.size() - 1), .label = 1}};
  return graph;
}

std::vector<std::string> names_of(const TaskGraph& graph) {
  std::vector<std::string> names;
  for (const Dimension& dimension : graph.dimensions) names.push_back(dimension.name);
  return names;
}

TEST(MergedJobs, HaveTheirOwnProgramsAndShareDimensionsByName) {
  const TaskGraph a = job_with({"tp", "dp"});
  const TaskGraph b = job_with({"cp", "dp", "pp"});
  const std::vector<PlacedJob> jobs{{.graph = a, .gpus = {RankId(4), RankId(1)}, .spec = {.name = "a"}},
                                    {.graph = b, .gpus = {RankId(0), RankId(5)}, .spec = {.name = "b"}}};
  TaskGraph all = merge_jobs(jobs, 6);
  EXPECT_THAT(names_of(all), ElementsAre("cp", "tp", "dp", "pp"));
  EXPECT_EQ(all.programs[all.program_of[4].index()].name, "a: all");
  EXPECT_EQ(all.programs[all.program_of[5].index()].job, 1U);
  EXPECT_TRUE(all.programs[all.program_of[2].index()].tasks.empty());
  const Dimension& dp = all.dimensions[2];
  EXPECT_THAT(dp.groups[0], ElementsAre(RankId(4), RankId(1)));
  EXPECT_THAT(dp.groups[1], ElementsAre(RankId(0), RankId(5)));
  EXPECT_EQ(dp.groups.size(), 4U);  // ranks 2 and 3 are alone
  const Task& of_b = all.programs[all.program_of[0].index()].tasks[1];
  EXPECT_EQ(all.dimensions[of_b.dimension.index()].name, "pp");
  EXPECT_EQ(of_b.detail, 1U);
  EXPECT_EQ(all.labels[of_b.label], "exchange");
  EXPECT_EQ(check_task_graph(all), "");
}

// Routes are hashed by the number of the dimension: a job alone must have those that it has together.
TEST(MergedJobs, DimensionsDoNotDependOnWhichJobsRun) {
  const TaskGraph a = job_with({"tp", "dp"});
  const TaskGraph b = job_with({"cp", "dp", "pp"});
  const std::vector<PlacedJob> jobs{
      {.graph = a, .gpus = {RankId(0), RankId(1)}, .spec = {.name = "a"}, .runs = false},
      {.graph = b, .gpus = {RankId(2), RankId(3)}, .spec = {.name = "b"}}};
  const TaskGraph alone = merge_jobs(jobs, 4);
  EXPECT_THAT(names_of(alone), ElementsAre("cp", "tp", "dp", "pp"));
  EXPECT_TRUE(alone.programs[alone.program_of[0].index()].tasks.empty());
  EXPECT_EQ(alone.programs[alone.program_of[0].index()].job, kNoJob);
}

}  // namespace
}  // namespace ringwright::merged_jobs_test
