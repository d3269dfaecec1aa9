#include "workload/pipeline/weight_versions.h"

#include <algorithm>

namespace ringwright::workload {
namespace {

int batches_of(int number, int by) {
  return (number + by - 1) / by;
}

}  // namespace

int passes_ahead(WeightVersions versions, int stages, int stage) {
  return versions == WeightVersions::kOne ? 0 : stages - 1 - stage;
}

int weight_versions(WeightVersions versions, int stages, int stage, int microbatches) {
  switch (versions) {
    case WeightVersions::kOne: return 1;
    case WeightVersions::kStashed: return 1 + batches_of(passes_ahead(versions, stages, stage), microbatches);
    case WeightVersions::kTwo: return std::min(2, stages);
  }
  return 1;
}

int steps_until_steady(WeightVersions versions, int stages, int microbatches) {
  return versions == WeightVersions::kOne || stages == 1 ? 0 : batches_of(2 * stages, microbatches);
}

PipelineOrder steady_order(const ScheduleRequest& request) {
  PipelineOrder order;
  for (int stage = 0; stage < request.stages; ++stage) {
    const int ahead = request.stages - 1 - stage;
    std::vector<Slot>& slots = order.emplace_back();
    for (int i = 0; i < ahead; ++i) slots.push_back({Pass::kForward, i, 0});
    for (int i = 0; i < request.microbatches; ++i) {
      slots.push_back({Pass::kForward, i + ahead, 0});
      slots.push_back({Pass::kBackward, i, 0});
    }
  }
  return order;
}

}  // namespace ringwright::workload
