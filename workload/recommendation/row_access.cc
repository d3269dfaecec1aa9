#include "workload/recommendation/row_access.h"

#include <algorithm>
#include <cmath>

namespace ringwright::workload {
namespace {

constexpr double kExactRows = 1000.0;
constexpr double kRange = 1.02;  // quotient of the ends of a range of rows

// The integral of x^-s.
double power_integral(double from, double to, double s) {
  if (std::abs(s - 1.0) < 1e-9) return std::log(to / from);
  return (std::pow(to, 1.0 - s) - std::pow(from, 1.0 - s)) / (1.0 - s);
}

}  // namespace

RowAccess::RowAccess(double rows, double exponent) : rows_(std::max(rows, 1.0)), exponent_(exponent) {
  all_ = harmonic(rows_);
}

double RowAccess::harmonic(double x) const {
  double sum = 0.0;
  const double exact = std::floor(std::min(x, kExactRows));
  for (double i = 1.0; i <= exact; i += 1.0) sum += std::pow(i, -exponent_);
  if (x > exact) sum += power_integral(exact + 0.5, x + 0.5, exponent_);
  return sum;
}

double RowAccess::probability(double i) const { return std::pow(i, -exponent_) / all_; }

double RowAccess::share_of_top(double x) const {
  if (x <= 0.0) return 0.0;
  return x >= rows_ ? 1.0 : harmonic(x) / all_;
}

double RowAccess::distinct(double lookups, double but_top) const {
  const auto met = [&](double i) {
    const double p = probability(i);
    return p >= 1.0 ? 1.0 : -std::expm1(lookups * std::log1p(-p));
  };
  double i = std::floor(std::max(but_top, 0.0)) + 1.0;
  double sum = 0.0;
  if (exponent_ <= 0.0) return std::max(rows_ - i + 1.0, 0.0) * met(1.0);
  for (; i <= std::min(rows_, kExactRows); i += 1.0) sum += met(i);
  while (i <= rows_) {
    const double end = std::min(std::ceil(i * kRange), rows_ + 1.0);
    sum += (end - i) * met((i + end - 1.0) / 2.0);
    i = end;
  }
  return sum;
}

double zipf_exponent(double rows, double top, double share) {
  double low = 0.0, high = 4.0;
  for (int round = 0; round < 60; ++round) {
    const double middle = (low + high) / 2.0;
    (RowAccess(rows, middle).share_of_top(top) < share ? low : high) = middle;
  }
  return (low + high) / 2.0;
}

}  // namespace ringwright::workload
