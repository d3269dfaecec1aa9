#include "core/run/contention/sharing_rule.h"

#include "core/run/contention/builtin_sharing_rules.h"

namespace ringwright {

std::unique_ptr<SharingRule> make_sharing_rule(SharingKind kind) {
  switch (kind) {
    case SharingKind::kNone: return nullptr;
    case SharingKind::kTimeSlicing: return make_time_slicing();
    case SharingKind::kMps: return make_mps();
    case SharingKind::kMig: return make_mig();
    case SharingKind::kAntMan: return make_antman();
    case SharingKind::kTgs: return make_tgs();
  }
  return nullptr;
}

}  // namespace ringwright
