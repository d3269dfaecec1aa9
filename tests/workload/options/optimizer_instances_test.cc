#include "workload/options/optimizer_instances.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::optimizer_instances_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string text_of(const std::string& zero, const std::string& training = "") {
  return small_model(2) + "training: {global_batch: 8" + training + "}\nparallel: {zero: {" + zero + "}}\n";
}

// Eight replicas in two groups of four: gradients are scattered within a group, and a quarter of them is summed over
// both; a group gathers all parameters.
TEST(OptimizerInstances, GradientsAreScatteredWithinAGroupAndSummedOverGroups) {
  const JobText job(text_of("stage: 1, num_distributed_optimizer_instances: 2"), 8);
  ASSERT_THAT(job.problems(), testing::IsEmpty());
  const StepPlan plan = job.plan();
  const auto bytes_of = [&](CollectiveKind kind) {
    Bytes most;
    for (const CollectiveSpec& call : plan.graph.collectives) {
      if (call.kind == kind) most = std::max(most, call.bytes);
    }
    return most;
  };
  const Bytes scattered = bytes_of(CollectiveKind::kReduceScatter);
  EXPECT_EQ(bytes_of(CollectiveKind::kAllReduce) * 4, scattered);
  EXPECT_EQ(bytes_of(CollectiveKind::kAllGather) * 2, scattered);  // two bytes of a parameter, four of its gradient
  std::vector<std::string> groups;
  for (const Dimension& dimension : plan.graph.dimensions) {
    for (const std::vector<RankId>& group : dimension.groups) {
      std::string ranks = dimension.name + ":";
      for (const RankId rank : group) ranks += " " + std::to_string(rank.value);
      groups.push_back(ranks);
    }
  }
  EXPECT_THAT(groups, testing::IsSupersetOf({"dp_shard: 0 1 2 3", "dp_shard: 4 5 6 7", "dp_replicate: 0 4",
                                             "dp_replicate: 3 7"}));
}

TEST(OptimizerInstances, ARankOfAGroupHasMoreOfTheState) {
  const auto optimizer = [](const std::string& zero) {
    return static_cast<double>(memory_ledger(JobText(text_of(zero), 8).inputs(), {}).front().of("optimizer").count());
  };
  EXPECT_NEAR(optimizer("stage: 1, num_distributed_optimizer_instances: 2") / optimizer("stage: 1"), 2.0, 0.02);
  EXPECT_EQ(optimizer("stage: 1, num_distributed_optimizer_instances: 1"), optimizer("stage: 1"));
}

TEST(OptimizerInstances, DivideTheRanksOfStage1) {
  const auto problems = [](const std::string& zero, const std::string& training = "") {
    return JobText(text_of(zero, training), 8).problems();
  };
  EXPECT_THAT(problems("stage: 1, num_distributed_optimizer_instances: 3"),
              ElementsAre(HasSubstr("E140: parallel.zero.num_distributed_optimizer_instances = 3 does not divide the 8 "
                                    "data-parallel ranks")));
  EXPECT_THAT(problems("stage: 1, num_distributed_optimizer_instances: 8"), ElementsAre(HasSubstr("E140")));
  EXPECT_THAT(problems("stage: 0, num_distributed_optimizer_instances: 2"), ElementsAre(HasSubstr("W131")));
  EXPECT_THAT(problems("stage: 1, num_distributed_optimizer_instances: 2", ", gradient_accumulation: copied"),
              ElementsAre(HasSubstr("is not supported with training.gradient_accumulation: copied")));
}

}  // namespace
}  // namespace ringwright::workload::optimizer_instances_test
