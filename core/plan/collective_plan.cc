#include "core/plan/collective_plan.h"

#include <algorithm>
#include <cmath>

namespace ringwright {

std::string_view to_string(Protocol protocol) {
  switch (protocol) {
    case Protocol::kLl: return "ll";
    case Protocol::kLl128: return "ll128";
    case Protocol::kSimple: return "simple";
  }
  return "?";
}

double thread_speed(const CollectivePlan& plan, double share_of_channel) {
  const double full = full_threads(plan.protocol);
  const double threads = plan.threads > 0 ? plan.threads : full;
  if (plan.protocol == Protocol::kSimple) return std::min(1.0, threads / full) * share_of_channel;
  return std::sqrt(std::min(1.0, threads * share_of_channel / full));
}

}  // namespace ringwright
