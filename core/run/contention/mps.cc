// MPS: kernels of several processes run at the same time, without isolation (NVIDIA, "Multi-Process Service").
//
// A client uses at most its active thread percentage of the multiprocessors, which are not reserved for it: where the
// percentages of those that compute exceed what communication leaves, each gets an equal share, and one that may use
// less leaves the rest to the others (max-min). Memory bandwidth is shared by the rule of all concurrent work on a GPU
// (workload/gpu/gpu_share.h).
#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/run/contention/builtin_sharing_rules.h"

namespace ringwright {
namespace {

class Mps final : public SharingRule {
 public:
  void share(std::span<const Tenant> tenants, std::span<TenantShare> shares) const override {
    std::vector<std::size_t> computing;
    double left = 1.0;
    for (std::size_t t = 0; t < tenants.size(); ++t) {
      shares[t].meets = Meets::kEverything;
      left -= tenants[t].sms_held;
      if (tenants[t].computes) computing.push_back(t);
    }
    left = std::max(left, 0.0);
    std::ranges::stable_sort(computing, {}, [&](std::size_t t) { return tenants[t].limits.sms; });
    for (std::size_t i = 0; i < computing.size(); ++i) {
      const double equal = left / static_cast<double>(computing.size() - i);
      TenantShare& own = shares[computing[i]];
      own.sms = std::min(tenants[computing[i]].limits.sms, equal);
      left -= own.sms;
    }
  }
};

}  // namespace

std::unique_ptr<SharingRule> make_mps() { return std::make_unique<Mps>(); }

}  // namespace ringwright
