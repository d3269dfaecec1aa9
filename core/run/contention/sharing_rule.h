// The port for how processes on one GPU share it: what each gets at a moment, by what all of them do.
//
// A rule is one file. It sees kernels as running or not: several kernels of one process count as one.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "core/base/units.h"
#include "core/plan/gpu_sharing.h"

namespace ringwright {

// A process on the GPU, at a moment.
struct Tenant {
  TenantLimits limits;
  bool computes = false;  // kernels of its own run, or would if they were allowed to
  double sms_held = 0.0;  // by thread blocks of its communication, as a share of the GPU's
};

// What of the others on the GPU takes from a process, and it from them.
enum class Meets : std::uint8_t { kNothing, kCommunication, kEverything };

struct TenantShare {
  double kernels = 1.0;     // speed of its kernels relative to those on the part of the GPU below; 0: they wait
  double copies = 1.0;      // the same for the thread blocks that move its data, in (0, 1]
  double sms = 1.0;         // most multiprocessors that its kernels use, as a share of the GPU's
  Meets meets = Meets::kNothing;
};

// Of one tenant over the last period of the rule.
struct TenantHistory {
  double computing = 0.0;  // picoseconds in which it had kernels
  double granted = 0.0;    // of these, weighted with TenantShare::kernels
};

class SharingRule {
 public:
  virtual ~SharingRule() = default;
  // `shares` has the defaults; one for each tenant.
  virtual void share(std::span<const Tenant> tenants, std::span<TenantShare> shares) const = 0;
  // Of a rule with a control loop: it is asked to adapt this often while anything computes; 0: never.
  [[nodiscard]] virtual Duration period() const { return Duration(0); }
  virtual void adapt(std::span<const Tenant> /*tenants*/, std::span<const TenantHistory> /*histories*/) {}
};

// Of one GPU. Null for SharingKind::kNone.
[[nodiscard]] std::unique_ptr<SharingRule> make_sharing_rule(SharingKind kind);

}  // namespace ringwright
