// The GPUs of a run that processes share: which classes of ranks are on each, and the rule by which they share it.
//
// A folded run has one GPU for each set of classes that meet on one; folding makes ranks on shared GPUs of one class
// only where the classes that they meet are the same.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/run/contention/sharing_rule.h"

namespace ringwright {

struct SharedGpu {
  std::vector<ClassId> tenants;       // ascending
  std::vector<TenantLimits> limits;   // by tenant
  std::unique_ptr<SharingRule> rule;
  bool is_watched = false;            // the rule will be asked to adapt
};

class SharedGpus {
 public:
  SharedGpus(const TaskGraph& graph, const RankClasses& classes);

  [[nodiscard]] bool any() const { return !gpus_.empty(); }
  // Null where the class has a whole GPU to itself.
  [[nodiscard]] SharedGpu* of(ClassId c) {
    const std::size_t gpu = gpu_of_class_.empty() ? kWhole : gpu_of_class_[c.index()];
    return gpu == kWhole ? nullptr : &gpus_[gpu];
  }

 private:
  static constexpr std::size_t kWhole = ~std::size_t{0};

  std::vector<std::size_t> gpu_of_class_;  // empty: nothing is shared
  std::vector<SharedGpu> gpus_;
};

}  // namespace ringwright
