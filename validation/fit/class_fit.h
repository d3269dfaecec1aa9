// Finds the values of a few positive constants for which predictions match measurements, with prior knowledge of the
// constants.
//
// Each constant has a value that its class of hardware has, and a spread: how far, as a factor, others of the class
// may differ from it. With x the logarithms of the constants, the fit minimises
//
//     sum over rows of  weight * h(residual / noise)  +  sum over constants of  ((x - class value) / spread)^2 / 2
//
// where h is Huber's function, so that single bad rows have little effect. (The most probable constants, when
// logarithms of times scatter by `noise` and constants by their spreads.) The search takes Levenberg's and Marquardt's
// steps with derivatives from differences; all of its trials run concurrently, and it gives the same answer on any
// number of cores. It descends from the class values and from where leaps of single constants lead, and keeps the
// deeper of the two valleys. The remaining spread of a constant shows whether the rows determine it: the one that they
// determine least is put back to its class value, and so on while any is left undetermined by the others; those that
// remain are fitted again.
#pragma once

#include <functional>
#include <span>
#include <vector>

namespace ringwright::validation {

struct ClassConstant {
  double low = 0.0;     // above 0
  double high = 0.0;
  double start = 0.0;   // of the class; within the bounds
  double spread = 0.0;  // above 0: of the logarithm
};

// One row: the logarithm of predicted over measured, and how much it counts.
struct ClassResidual {
  double error = 0.0;
  double weight = 1.0;
};

struct ClassFitOptions {
  double noise = 0.1;       // expected error of a good prediction: of the logarithm
  double determined = 0.7;  // a constant is determined when at most this share of its spread is left
  int most_rounds = 5;
};

struct ClassFitAnswer {
  std::vector<double> values;
  std::vector<bool> determined;   // by constant
  std::vector<double> left_over;  // share of each constant's spread that the rows leave
  double error = 0.0;             // mean of the residuals' absolute values, by weight
  double error_at_start = 0.0;
  int rounds = 0;
};

// Rows have the same number and order for all values; none at all where values cannot be simulated. Called from
// several threads at once.
using ClassResiduals = std::function<std::vector<ClassResidual>(std::span<const double>)>;
[[nodiscard]] ClassFitAnswer fit_to_class(std::span<const ClassConstant> constants, const ClassResiduals& residuals,
                            const ClassFitOptions& options = {});

}  // namespace ringwright::validation
