// Finds lossy switches and cables from the success rates of paths, as NetBouncer does (Tan et al., NSDI 2019).
//
// First switches: one that no path crosses well is lossy as a whole. Its cables have no other paths and cannot be
// distinguished from it; paths over it are left out of what follows. A switch whose paths share a cable is not judged:
// that cable may be the cause. Of switches with the same bad paths the fewest that explain them are reported.
//
// Then cables, with a latent factor model over the other paths.
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
  double threshold = 1e-3;  // a cable that loses more is reported; a path that loses more is not crossed well
};

struct LossyParts {
  std::vector<NodeId> switches;
  std::vector<std::uint32_t> cables;  // by number, ascending; those of lossy switches included
};

[[nodiscard]] LossyParts find_lossy_parts(const ProbePlan& plan, std::span<const double> success,
                                          const NetBouncerOptions& options);

// Of cables alone, ascending. `success`: by path, 0 to 1.
[[nodiscard]] std::vector<std::uint32_t> find_lossy_cables(const ProbePlan& plan, std::span<const double> success,
                                                           const NetBouncerOptions& options);
// By cable, its success rate.
[[nodiscard]] std::vector<double> estimate_success(const ProbePlan& plan, std::span<const double> success,
                                                   const NetBouncerOptions& options);

}  // namespace ringwright::network_models
