#include "workload/recommendation/recommender_framework.h"

namespace ringwright::workload {

FrameworkTraits traits_of(RecommenderFramework framework) {
  if (framework == RecommenderFramework::kTorchRec) return {};
  return {.fused_epilogues = true,
          .late_wgrad = true,
          .prepares_ahead = true,
          .one_all_reduce = true,
          .casts_in_optimizer = true,
          .index_bytes = 4.0};
}

}  // namespace ringwright::workload
