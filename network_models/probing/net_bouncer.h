// Finds lossy cables from the success rates of paths, with NetBouncer's latent factor model (Tan et al., NSDI 2019).
//
// The success rate of path j is the product of those of its cables, x_i in [0, 1]. Estimated are the x that minimise
//   sum_j (y_j - prod_{i in j} x_i)^2 + penalty * sum_i x_i (1 - x_i),
// by coordinate descent: with the others fixed the sum is a parabola in x_i with a known minimum in [0, 1]. The penalty
// pulls rates to 0 or 1, so that few cables explain the losses. A cable starts at the mean success of its paths.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "network_models/probing/probe_plan.h"

namespace ringwright::network_models {

struct NetBouncerOptions {
  double penalty = 0.0;     // lambda
  double threshold = 1e-3;  // a cable that loses more is reported
};

// The numbers of cables that are reported, ascending. `success`: by path, 0 to 1.
[[nodiscard]] std::vector<std::uint32_t> find_lossy_cables(const ProbePlan& plan, std::span<const double> success,
                                                           const NetBouncerOptions& options);
// By cable, its success rate.
[[nodiscard]] std::vector<double> estimate_success(const ProbePlan& plan, std::span<const double> success,
                                                   const NetBouncerOptions& options);

}  // namespace ringwright::network_models
