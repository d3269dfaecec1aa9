// MIG: every process has an instance with multiprocessors and memory of its own, and meets no other (NVIDIA,
// "Multi-Instance GPU User Guide"). What an instance has are the limits of its process, which hold under every rule.
#include "core/run/contention/builtin_sharing_rules.h"

namespace ringwright {
namespace {

class Mig final : public SharingRule {
 public:
  void share(std::span<const Tenant> /*tenants*/, std::span<TenantShare> /*shares*/) const override {}
};

}  // namespace

std::unique_ptr<SharingRule> make_mig() { return std::make_unique<Mig>(); }

}  // namespace ringwright
