#include "planning/jobs/gpu_company.h"

#include <array>
#include <utility>

namespace ringwright::planning {
namespace {

constexpr std::size_t kWholeGpu = 100;  // percent

// GPUs with room, by the percent that is left.
using OpenShares = std::array<std::vector<std::size_t>, kWholeGpu + 1>;

class Company {
 public:
  explicit Company(SharingKind sharing) : one_guaranteed_(has_classes(sharing)) {}

  void add(const ClusterJobView& job) {
    const auto percent = static_cast<std::size_t>(job.job->percent);
    if (percent >= kWholeGpu) {
      add_first(job);
      return;
    }
    const bool guaranteed = one_guaranteed_ && !job.job->opportunistic;
    for (std::size_t left = percent; left < kWholeGpu; ++left) {
      // Of those with a guaranteed job, only an opportunistic one.
      for (OpenShares* const open : {&with_guaranteed_, &others_}) {
        if ((*open)[left].empty() || (guaranteed && open == &with_guaranteed_)) continue;
        const std::size_t gpu = (*open)[left].back();
        (*open)[left].pop_back();
        company_.of_job.push_back(gpu);
        (guaranteed ? with_guaranteed_ : *open)[left - percent].push_back(gpu);
        return;
      }
    }
    add_first(job);
    (guaranteed ? with_guaranteed_ : others_)[kWholeGpu - percent].push_back(company_.of_job.back());
  }
  [[nodiscard]] GpuCompany take() { return std::move(company_); }

 private:
  void add_first(const ClusterJobView& job) {
    company_.of_job.push_back(company_.first.size());
    company_.first.push_back(job);
  }

  bool one_guaranteed_;
  GpuCompany company_;
  OpenShares with_guaranteed_;
  OpenShares others_;
};

}  // namespace

GpuCompany company_of(std::span<const ClusterJobView> jobs, SharingKind sharing) {
  Company company(sharing);
  for (const ClusterJobView& job : jobs) company.add(job);
  return company.take();
}

}  // namespace ringwright::planning
