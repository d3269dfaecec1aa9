#include "collectives/msccl/file_chooser.h"

namespace ringwright::collectives {

ChannelChoice FileChooser::choose(const CollectiveCall& call) const {
  for (const MscclAlgorithm& algorithm : algorithms_) {
    if (algorithm.matches(call)) return {.algorithm = &algorithm, .plan = algorithm.plan()};
  }
  for (const PlanAlgorithm& plan : plans_) {
    if (plan.matches(call)) return {.algorithm = &plan, .plan = plan.plan()};
  }
  return rest_.choose(call);
}

}  // namespace ringwright::collectives
