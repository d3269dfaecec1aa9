// AntMan: operators of opportunistic jobs run where the job with a resource guarantee leaves the GPU idle (Xiao et
// al., "AntMan: Dynamic Scaling on GPU Clusters for Deep Learning", OSDI 2020, section 3.3).
//
// While the job with the guarantee computes, no opportunistic kernel is launched; otherwise opportunistic jobs share
// the GPU equally. An operator that runs already is not preempted: operators are short, and the time until it ends is
// not counted. Communication that has begun goes on.
#include <cstddef>

#include "core/run/contention/builtin_sharing_rules.h"

namespace ringwright {
namespace {

class AntMan final : public SharingRule {
 public:
  void share(std::span<const Tenant> tenants, std::span<TenantShare> shares) const override {
    bool guaranteed = false;
    int opportunistic = 0;
    for (const Tenant& tenant : tenants) {
      if (!tenant.computes) continue;
      if (tenant.limits.opportunistic) ++opportunistic;
      guaranteed |= !tenant.limits.opportunistic;
    }
    for (std::size_t t = 0; t < tenants.size(); ++t) {
      shares[t].meets = Meets::kCommunication;
      if (!tenants[t].computes || !tenants[t].limits.opportunistic) continue;
      shares[t].kernels = guaranteed ? 0.0 : 1.0 / opportunistic;
    }
  }
};

}  // namespace

std::unique_ptr<SharingRule> make_antman() { return std::make_unique<AntMan>(); }

}  // namespace ringwright
