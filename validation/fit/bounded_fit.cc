#include "validation/fit/bounded_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/base/check.h"

namespace ringwright::validation {
namespace {

// Differences below this are rounding, not an effect.
constexpr double kNoDifference = 1e-12;

class CompassSearch {
 public:
  CompassSearch(std::span<const FitConstant> constants, const FitError& error, const FitOptions& options)
      : constants_(constants), error_(error), options_(options) {
    for (const FitConstant& constant : constants) {
      CHECK(constant.low > 0.0 && constant.low <= constant.start && constant.start <= constant.high,
            "bounds hold the start");
      answer_.values.push_back(constant.start);
    }
    answer_.matters.assign(constants.size(), false);
    answer_.error = answer_.error_at_start = error(answer_.values);
  }

  FitAnswer run() {
    double step = std::log(options_.first_factor);
    const double last = std::log(options_.last_factor);
    while (step >= last && answer_.rounds < options_.most_rounds) {
      ++answer_.rounds;
      if (!improve(std::exp(step))) step /= 2.0;
    }
    return answer_;
  }

 private:
  [[nodiscard]] double moved(std::size_t constant, double factor) const {
    return std::clamp(answer_.values[constant] * factor, constants_[constant].low, constants_[constant].high);
  }

  // By constant: larger, smaller.
  void poll(double factor) {
    trials_.assign(2 * constants_.size(), answer_.values);
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      trials_[2 * i][i] = moved(i, factor);
      trials_[2 * i + 1][i] = moved(i, 1.0 / factor);
    }
    errors_.assign(trials_.size(), answer_.error);
    const auto count = static_cast<std::int64_t>(trials_.size());
#pragma omp parallel for schedule(dynamic) if (options_.cores == FitCores::kAll)
    for (std::int64_t t = 0; t < count; ++t) {
      const auto trial = static_cast<std::size_t>(t);
      if (trials_[trial] != answer_.values) errors_[trial] = error_(trials_[trial]);
    }
  }

  bool improve(double factor) {
    poll(factor);
    std::vector<double> together = answer_.values;
    for (std::size_t i = 0; i < constants_.size(); ++i) {
      const double larger = errors_[2 * i];
      const double smaller = errors_[2 * i + 1];
      if (std::abs(larger - answer_.error) > kNoDifference || std::abs(smaller - answer_.error) > kNoDifference) {
        answer_.matters[i] = true;
      }
      if (std::min(larger, smaller) < answer_.error - kNoDifference) {
        together[i] = trials_[larger <= smaller ? 2 * i : 2 * i + 1][i];
      }
    }
    trials_.push_back(together);
    errors_.push_back(together == answer_.values ? answer_.error : error_(together));
    const auto best = static_cast<std::size_t>(std::ranges::min_element(errors_) - errors_.begin());
    if (!(errors_[best] < answer_.error - kNoDifference)) return false;
    answer_.error = errors_[best];
    answer_.values = trials_[best];
    return true;
  }

  std::span<const FitConstant> constants_;
  const FitError& error_;
  const FitOptions& options_;
  FitAnswer answer_;
  std::vector<std::vector<double>> trials_;
  std::vector<double> errors_;
};

}  // namespace

FitAnswer fit(std::span<const FitConstant> constants, const FitError& error, const FitOptions& options) {
  return CompassSearch(constants, error, options).run();
}

}  // namespace ringwright::validation
