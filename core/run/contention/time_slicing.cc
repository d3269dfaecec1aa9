// Time slicing: processes without MPS take turns on the whole GPU (NVIDIA, "Multi-Process Service", 2.1.1: work of
// different CUDA contexts does not run concurrently).
//
//     n processes with kernels on the GPU, those of communication included: each runs at 1/n
//
// Slices of about 2 ms are short against a training step, so a share of the time is a speed. The time of a switch is
// not counted.
#include <cstddef>

#include "core/run/contention/builtin_sharing_rules.h"

namespace ringwright {
namespace {

class TimeSlicing final : public SharingRule {
 public:
  void share(std::span<const Tenant> tenants, std::span<TenantShare> shares) const override {
    int active = 0;
    for (const Tenant& tenant : tenants) active += is_active(tenant) ? 1 : 0;
    for (std::size_t t = 0; t < tenants.size(); ++t) {
      if (!is_active(tenants[t])) continue;
      shares[t].kernels = 1.0 / active;
      shares[t].copies = 1.0 / active;
    }
  }

 private:
  [[nodiscard]] static bool is_active(const Tenant& tenant) { return tenant.computes || tenant.sms_held > 0.0; }
};

}  // namespace

std::unique_ptr<SharingRule> make_time_slicing() { return std::make_unique<TimeSlicing>(); }

}  // namespace ringwright
