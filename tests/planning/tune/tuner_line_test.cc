#include "planning/tune/tuner_line.h"

#include <gtest/gtest.h>

namespace ringwright::planning::tuner_line_test {
namespace {

using configs::CollectiveOperation;

TEST(TunerLine, HasTheWordsOfThePlugIn) {
  const CallSetting setting{.algorithm = "nvlstree", .protocol = "simple", .channels = 16};
  EXPECT_EQ(tuner_line(CollectiveOperation::kReduceScatter,
                       {.least_bytes = 1, .most_bytes = 4096, .hosts = 2, .ranks = 16}, setting),
            "reducescatter,1,4096,nvls_tree,simple,16,2,16\n");
}

TEST(TunerLine, HoldsForAllCallsByDefault) {
  EXPECT_EQ(tuner_line(CollectiveOperation::kAllReduce, {}, {.algorithm = "ring", .protocol = "ll"}),
            "allreduce,0,4294967295,ring,ll,-1,-1,-1\n");
}

}  // namespace
}  // namespace ringwright::planning::tuner_line_test
