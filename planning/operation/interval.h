// Checkpoint intervals and what they cost, in closed form, for failures without memory.
//
//   Young 1974       tau = sqrt(2 delta M)
//   Daly 2006        tau = sqrt(2 delta M) (1 + sqrt(delta / 2M) / 3 + (delta / 2M) / 9) - delta for delta < 2M, else M
//   efficiency       tau / (M exp(R / M) (exp((tau + delta) / M) - 1)), exact
//   first order      1 - delta / tau - tau / 2M - R / M
//
// delta: the stall of a checkpoint, M: mean time between failures, R: recovery, all in one unit.
#pragma once

namespace ringwright::planning {

struct CheckpointCost {
  double stall = 0.0;
  double between_failures = 0.0;
  double recovery = 0.0;
};

[[nodiscard]] double young_interval(const CheckpointCost& cost);
[[nodiscard]] double daly_interval(const CheckpointCost& cost);
[[nodiscard]] double exact_efficiency(const CheckpointCost& cost, double interval);
[[nodiscard]] double first_order_efficiency(const CheckpointCost& cost, double interval);

}  // namespace ringwright::planning
