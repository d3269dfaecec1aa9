#include "planning/jobs/gpu_company.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::planning::gpu_company_test {
namespace {

using testing::ElementsAre;

// A job of this part of a GPU; 100: a job of whole ones.
struct Wanted {
  int percent = 100;
  bool opportunistic = false;
};

std::vector<std::size_t> gpus_of(const std::vector<Wanted>& wanted, SharingKind sharing) {
  std::vector<ClusterJob> jobs;
  for (const Wanted& each : wanted) {
    jobs.emplace_back();
    jobs.back().share = kWholeGpu / 100 * each.percent;
    jobs.back().opportunistic = each.opportunistic;
  }
  std::vector<ClusterJobView> views;
  for (const ClusterJob& job : jobs) views.push_back({.job = &job});
  return company_of(views, sharing).of_job;
}

// The third half needs a GPU of its own, on which the fourth joins it.
TEST(GpuCompany, JobsJoinTheFullestGpuWithRoom) {
  EXPECT_THAT(gpus_of({{50}, {100}, {50}, {50}, {50}}, SharingKind::kParts), ElementsAre(0U, 1U, 0U, 2U, 2U));
  EXPECT_THAT(gpus_of({{60}, {30}, {70}, {30}, {10}}, SharingKind::kParts), ElementsAre(0U, 0U, 1U, 1U, 0U));
}

TEST(GpuCompany, OneGuaranteedJobIsOnAGpu) {
  const std::vector<Wanted> jobs{{33}, {33}, {33, true}, {33, true}, {33, true}};
  EXPECT_THAT(gpus_of(jobs, SharingKind::kTimeSlicing), ElementsAre(0U, 0U, 0U, 1U, 1U));
  const std::vector<std::size_t> guarded = gpus_of(jobs, SharingKind::kAntMan);
  EXPECT_NE(guarded[0], guarded[1]);
  EXPECT_THAT(gpus_of({{33, true}, {33}, {33}, {33, true}}, SharingKind::kTgs), ElementsAre(0U, 0U, 1U, 0U));
}

}  // namespace
}  // namespace ringwright::planning::gpu_company_test
