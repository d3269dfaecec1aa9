// Which rows of an embedding table are looked up: row i of R with probability p_i = i^-s / H(R, s), i = 1 ... R (Zipf).
//
// Sums over rows are exact for the first thousand; beyond, H is the integral of i^-s by the midpoint rule, and other
// sums take ranges of rows whose ends differ by 2 % at the probability in their middle.
#pragma once

namespace ringwright::workload {

class RowAccess {
 public:
  // `rows` may be a fraction of a table's that a rank has. Exponent 0: all rows are equally likely.
  RowAccess(double rows, double exponent);

  // Share of lookups that meet the x most popular rows: H(x, s) / H(R, s).
  [[nodiscard]] double share_of_top(double x) const;
  // Expected number of distinct rows in n lookups: the sum of 1 - (1 - p_i)^n; `but_top`: without so many of the most
  // popular rows.
  [[nodiscard]] double distinct(double lookups, double but_top = 0.0) const;

 private:
  [[nodiscard]] double harmonic(double x) const;
  [[nodiscard]] double probability(double i) const;

  double rows_;
  double exponent_;
  double all_ = 1.0;  // H(R, s)
};

// The exponent with which so many of the most popular rows meet this share of all lookups.
[[nodiscard]] double zipf_exponent(double rows, double top, double share);

}  // namespace ringwright::workload
