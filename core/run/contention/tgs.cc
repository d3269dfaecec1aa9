// TGS: the kernel rate of opportunistic jobs is adapted so that the production job stays as fast as it is alone (Wu et
// al., "Transparent GPU Sharing in Container Clouds for Deep Learning Workloads", NSDI 2023, section 4.1).
//
// The opportunistic jobs of a GPU have a rate limit x, the share of its time that they may use; the production job has
// the rest. Every 10 ms TGS compares the production job's rate with that alone. Its loss d over the last period
// decides, with the constants of github.com/pkusys/TGS (hijack/src/low_priority_hijack_call.c):
//
//     slow start:            d <= 3 %: x * 1.5     otherwise: x / 1.5, and congestion avoidance from then on
//     congestion avoidance:  d <= 3 %: x + 0.025 % otherwise: x * 0.92;  d >= 9 %: x / 10, and slow start again
//     no kernel of the production job in the period: no limit, and slow start again
//
// TGS limits thread blocks in a period and begins with 20,000, of jobs that launch about a million; its additive step
// is a share of the production job's rate. Here both are shares of the time.
#include <algorithm>
#include <cstddef>

#include "core/run/contention/builtin_sharing_rules.h"

namespace ringwright {
namespace {

constexpr Duration kTgsPeriod = Duration(10'000'000'000);  // picoseconds
constexpr double kFirstRate = 0.02;
constexpr double kLeastRate = 0.001;
constexpr double kMostRate = 0.5;  // together with the production job: time slices of the driver are equal
constexpr double kTolerance = 0.03;
constexpr double kFaster = 1.5;
constexpr double kStep = 0.00025;
constexpr double kDecrease = 0.92;
constexpr double kCollapse = 10.0;

class Tgs final : public SharingRule {
 public:
  void share(std::span<const Tenant> tenants, std::span<TenantShare> shares) const override {
    bool production = false;
    int opportunistic = 0;
    for (const Tenant& tenant : tenants) {
      if (!tenant.computes) continue;
      if (tenant.limits.opportunistic) ++opportunistic;
      production |= !tenant.limits.opportunistic;
    }
    const double used = opportunistic == 0 ? 0.0 : (production ? std::min(rate_, kMostRate) : rate_);
    for (std::size_t t = 0; t < tenants.size(); ++t) {
      if (!tenants[t].computes) continue;
      shares[t].kernels = tenants[t].limits.opportunistic ? used / opportunistic : 1.0 - used;
    }
  }

  [[nodiscard]] Duration period() const override { return kTgsPeriod; }

  // A GPU has one production job.
  void adapt(std::span<const Tenant> tenants, std::span<const TenantHistory> histories) override {
    TenantHistory production;
    for (std::size_t t = 0; t < tenants.size(); ++t) {
      if (!tenants[t].limits.opportunistic && histories[t].computing > 0.0) production = histories[t];
    }
    const double loss = production.computing > 0.0 ? 1.0 - production.granted / production.computing : 0.0;
    if (production.computing <= 0.0) {
      rate_ = 1.0;
      slow_start_ = true;
    } else if (slow_start_) {
      leave_slow_start(loss);
    } else {
      avoid_congestion(loss);
    }
    rate_ = std::clamp(rate_, kLeastRate, 1.0);
  }

 private:
  void leave_slow_start(double loss) {
    slow_start_ = loss <= kTolerance;
    rate_ = slow_start_ ? rate_ * kFaster : rate_ / kFaster;
  }
  void avoid_congestion(double loss) {
    rate_ = loss <= kTolerance ? rate_ + kStep : rate_ * kDecrease;
    if (loss < 3.0 * kTolerance) return;
    rate_ /= kCollapse;
    slow_start_ = true;
  }

  double rate_ = kFirstRate;
  bool slow_start_ = true;
};

}  // namespace

std::unique_ptr<SharingRule> make_tgs() { return std::make_unique<Tgs>(); }

}  // namespace ringwright
