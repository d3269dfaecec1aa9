// Statistics of repetitions: means with their standard error, medians with the confidence interval of order statistics.
#pragma once

#include <span>
#include <vector>

namespace ringwright::planning {

struct Summary {
  double mean = 0.0;
  double error = 0.0;  // standard error of the mean; 0 for one repetition
  double median = 0.0;
  double low = 0.0;  // of the median, at 95 % or as near as so few repetitions allow
  double high = 0.0;
  double least = 0.0;
  double most = 0.0;
};

// Ranks l < u, from 1, so that the median lies between the l-th and the u-th smallest of n values with at least 95 %:
// P(l <= Binomial(n, 1/2) < u). Without such ranks (n < 6): the smallest and the largest.
struct MedianRanks {
  int low = 1;
  int high = 1;
  double confidence = 0.0;
};
[[nodiscard]] MedianRanks median_ranks(int count);

[[nodiscard]] Summary summarise_values(std::vector<double> values);

}  // namespace ringwright::planning
