#include "tools/misfit.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::tools::misfit_test {
namespace {

using namespace ringwright::literals;
using testing::HasSubstr;
using testing::Not;

std::string remedies_at(const std::string& zero_stage) {
  Report report;
  report.facts.memory = {{.stage = 0,
                          .items = {{.name = "optimizer", .size = 40_GiB},
                                    {.name = "gradients", .size = 30_GiB},
                                    {.name = "weights", .size = 20_GiB}},
                          .total = 90_GiB,
                          .capacity = 80_GiB}};
  report.fullest_memory = 0;
  report.facts.config = {{.path = "parallel.zero.stage", .text = zero_stage, .origin = "default"}};
  return misfit(report);
}

// A stage of ZeRO that the run has is no remedy.
TEST(Misfit, NamesWhatWouldHelpBeyondWhatTheRunHas) {
  EXPECT_THAT(remedies_at("0"), HasSubstr("parallel.zero.stage: 1 or more"));
  for (const char* stage : {"1", "2", "3"}) {
    EXPECT_THAT(remedies_at(stage), Not(HasSubstr("zero.stage: 1 or more"))) << stage;
    EXPECT_THAT(remedies_at(stage), HasSubstr("parallel.zero.offload_optimizer")) << stage;
  }
  EXPECT_THAT(remedies_at("1"), HasSubstr("parallel.zero.stage: 2 or more"));
  EXPECT_THAT(remedies_at("2"), Not(HasSubstr("parallel.zero.stage")));
  EXPECT_THAT(remedies_at("2"), HasSubstr("parallel.fsdp"));
  EXPECT_THAT(remedies_at("3"), Not(HasSubstr("fsdp")));
}

}  // namespace
}  // namespace ringwright::tools::misfit_test
