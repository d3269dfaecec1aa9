// How unevenly a router spreads tokens over experts.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/model/model_shape.h"

namespace ringwright::workload {

// Tokens of each expert relative to an equal share (1 on average): log-normal, with `deviation` as coefficient of
// variation. A token has each expert at most once, so that no expert has more than count / per_token; the excess goes
// to the others in proportion to their tokens. One draw holds for all layers.
[[nodiscard]] std::vector<double> draw_expert_loads(const ExpertShape& shape, double deviation, std::uint64_t seed);

// Tokens of each of `ranks` ranks, which hold consecutive experts, relative to an equal share. Tokens of an expert
// beyond its capacity (relative to an equal share as well; 0: unlimited) are dropped.
[[nodiscard]] std::vector<double> loads_of_ranks(const std::vector<double>& experts, int ranks, double capacity);

// The share of the tokens' choices that are dropped. No experts: equal loads.
[[nodiscard]] double dropped_share(const std::vector<double>& experts, double capacity);

}  // namespace ringwright::workload
