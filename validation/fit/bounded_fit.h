// Finds the values of a few positive constants, each within its bounds, that minimise an error.
//
// A compass search in the logarithms: from the best point so far every constant is tried larger and smaller by the
// present factor, all at once on all cores, and then all of the trials that helped together. The best of these is the
// next point; when none helps, the factor's logarithm is halved. It needs no derivative, takes errors that jump (an
// algorithm may change), and gives the same answer on any number of cores. (Kolda, Lewis, Torczon, "Optimization by
// direct search", SIAM Review 45, 2003.)
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace ringwright::validation {

struct FitConstant {
  double low = 0.0;    // above 0
  double high = 0.0;
  double start = 0.0;  // within
};

// kOne: where a trial takes microseconds, starting threads takes longer.
enum class FitCores { kAll, kOne };

struct FitOptions {
  double first_factor = 1.6;
  double last_factor = 1.03;  // the search ends below it
  int most_rounds = 60;
  FitCores cores = FitCores::kAll;
};

struct FitAnswer {
  std::vector<double> values;
  double error = 0.0;
  double error_at_start = 0.0;
  int rounds = 0;
  std::vector<bool> matters;  // by constant: whether any trial of it changed the error
};

// `error` is called from several threads at once (kAll); smaller is better.
using FitError = std::function<double(std::span<const double>)>;
[[nodiscard]] FitAnswer fit(std::span<const FitConstant> constants, const FitError& error,
                            const FitOptions& options = {});

}  // namespace ringwright::validation
