#include "planning/jobs/shared_speed.h"

#include <algorithm>

namespace ringwright::planning {
namespace {

// Of the production job, at which TGS keeps the rate of opportunistic kernels (core/run/contention/tgs.cc).
constexpr double kTgsLoss = 0.03;

// Max-min fair: to those that demand least what they demand, and equal parts to the others.
void share_fairly(double capacity, std::span<const JobOnGpu> jobs, std::vector<std::size_t> who,
                  std::vector<double>& speeds) {
  std::ranges::stable_sort(who, {}, [&](std::size_t job) { return jobs[job].demand; });
  for (std::size_t i = 0; i < who.size(); ++i) {
    const double demand = jobs[who[i]].demand;
    const double share = std::min(demand, capacity / static_cast<double>(who.size() - i));
    speeds[who[i]] = share / demand;
    capacity = std::max(0.0, capacity - share);
  }
}

}  // namespace

std::vector<double> shared_speeds(SharingKind kind, std::span<const JobOnGpu> jobs) {
  std::vector<double> speeds(jobs.size(), 1.0);
  if (kind == SharingKind::kParts) return speeds;
  std::vector<std::size_t> first;
  std::vector<std::size_t> others;
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    (has_classes(kind) && jobs[job].opportunistic ? others : first).push_back(job);
  }
  share_fairly(1.0, jobs, first, speeds);
  if (others.empty()) return speeds;
  double left = 1.0;
  for (const std::size_t job : first) {
    if (kind == SharingKind::kTgs) speeds[job] *= 1.0 - kTgsLoss;
    left -= speeds[job] * jobs[job].demand;
  }
  share_fairly(std::max(0.0, left), jobs, others, speeds);
  return speeds;
}

}  // namespace ringwright::planning
