#include "planning/jobs/gpu_company.h"

#include <map>
#include <utility>

namespace ringwright::planning {
namespace {

// GPUs with room, by what is left of them.
using OpenShares = std::map<int, std::vector<std::size_t>>;

class Company {
 public:
  explicit Company(SharingKind sharing) : one_guaranteed_(has_classes(sharing)) {}

  void add(const ClusterJobView& job) {
    const int share = job.job->share;
    if (share >= kWholeGpu) {
      add_first(job);
      return;
    }
    const bool guaranteed = one_guaranteed_ && !job.job->opportunistic;
    if (OpenShares* const open = fullest(share, guaranteed)) {
      const auto left = open->lower_bound(share);
      const std::size_t gpu = left->second.back();
      left->second.pop_back();
      company_.of_job.push_back(gpu);
      leave(guaranteed ? with_guaranteed_ : *open, left->first - share, gpu);
      if (left->second.empty()) open->erase(left);
      return;
    }
    add_first(job);
    leave(guaranteed ? with_guaranteed_ : others_, kWholeGpu - share, company_.of_job.back());
  }
  [[nodiscard]] GpuCompany take() { return std::move(company_); }

 private:
  void add_first(const ClusterJobView& job) {
    company_.of_job.push_back(company_.first.size());
    company_.first.push_back(job);
  }

  // Where the fullest GPU is that has room; of those with a guaranteed job, only for an opportunistic one.
  [[nodiscard]] OpenShares* fullest(int share, bool guaranteed) {
    const auto other = others_.lower_bound(share);
    const auto with = guaranteed ? with_guaranteed_.end() : with_guaranteed_.lower_bound(share);
    if (with != with_guaranteed_.end() && (other == others_.end() || with->first <= other->first)) {
      return &with_guaranteed_;
    }
    return other == others_.end() ? nullptr : &others_;
  }
  static void leave(OpenShares& open, int left, std::size_t gpu) {
    if (left > 0) open[left].push_back(gpu);
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
