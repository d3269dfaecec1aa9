#include "validation/fit/class_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

#include "core/base/check.h"

namespace ringwright::validation {
namespace {

constexpr double kStep = 0.05;    // of a logarithm, for derivatives
constexpr double kEnough = 2e-2;  // a round with a smaller relative gain ends the search
constexpr int kMostLeaps = 1;
constexpr int kMostFirstLeaps = 3;
constexpr std::array kLeaps = {-2.0, -1.0, 1.0, 2.0};  // of a constant's spread
constexpr double kFirstDamping = 0.1;
constexpr double kMostDamping = 1e4;

// A symmetric positive matrix, row by row.
class SquareMatrix {
 public:
  explicit SquareMatrix(std::size_t size) : size_(size), cells_(size * size) {}
  double& at(std::size_t row, std::size_t column) { return cells_[row * size_ + column]; }
  [[nodiscard]] double at(std::size_t row, std::size_t column) const { return cells_[row * size_ + column]; }
  [[nodiscard]] std::size_t size() const { return size_; }

  // The lower triangle becomes Cholesky's.
  void factor() {
    for (std::size_t j = 0; j < size_; ++j) {
      for (std::size_t k = 0; k < j; ++k) at(j, j) -= at(j, k) * at(j, k);
      at(j, j) = std::sqrt(std::max(at(j, j), 1e-12));
      for (std::size_t i = j + 1; i < size_; ++i) {
        for (std::size_t k = 0; k < j; ++k) at(i, j) -= at(i, k) * at(j, k);
        at(i, j) /= at(j, j);
      }
    }
  }
  // After factor().
  [[nodiscard]] std::vector<double> solve(std::vector<double> right) const {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) right[i] -= at(i, k) * right[k];
      right[i] /= at(i, i);
    }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) right[i] -= at(k, i) * right[k];
      right[i] /= at(i, i);
    }
    return right;
  }

 private:
  std::size_t size_;
  std::vector<double> cells_;
};

class Search {
 public:
  Search(std::span<const ClassConstant> constants, const ClassResiduals& residuals, const ClassFitOptions& options)
      : constants_(constants), residuals_(residuals), options_(options) {
    for (const ClassConstant& constant : constants) {
      CHECK(constant.low > 0.0 && constant.low <= constant.start && constant.start <= constant.high,
            "bounds hold the start");
      CHECK(constant.spread > 0.0, "a class has a spread");
      x_.push_back(std::log(constant.start));
    }
    free_.assign(constants.size(), true);
    rows_ = play(x_);
    answer_.error_at_start = mean_error(rows_);
  }

  ClassFitAnswer run() {
    answer_.left_over.assign(constants_.size(), 1.0);
    search_from_two_starts();
    put_back_undetermined();
    rows_ = play(x_);
    descend();
    for (const double logarithm : x_) answer_.values.push_back(std::exp(logarithm));
    answer_.error = mean_error(rows_);
    return answer_;
  }

 private:
  using Logarithms = std::vector<double>;

  [[nodiscard]] std::vector<ClassResidual> play(const Logarithms& x) const {
    std::vector<double> values;
    for (const double logarithm : x) values.push_back(std::exp(logarithm));
    return residuals_(values);
  }

  [[nodiscard]] static double mean_error(const std::vector<ClassResidual>& rows) {
    double sum = 0.0, weight = 0.0;
    for (const ClassResidual& row : rows) {
      sum += row.weight * std::abs(row.error);
      weight += row.weight;
    }
    return weight > 0.0 ? sum / weight : 0.0;
  }

  // The errors have several valleys: a rate that the class has far too high leaves the rows to another constant nearby,
  // while both are right beyond a ridge. Of the valley next to the class values and the one where leaps of single
  // constants lead, the deeper is kept.
  void search_from_two_starts() {
    const Logarithms start = x_;
    const std::vector<ClassResidual> rows_at_start = rows_;
    descend();
    for (int leaps = 0; leaps < kMostLeaps && leap(); ++leaps) descend();
    const Logarithms nearest = std::exchange(x_, start);
    const std::vector<ClassResidual> rows_there = std::exchange(rows_, rows_at_start);
    bool leapt = false;
    for (int leaps = 0; leaps < kMostFirstLeaps && leap(); ++leaps) leapt = true;
    if (leapt) descend();
    if (loss(rows_, x_) < loss(rows_there, nearest)) return;
    x_ = nearest;
    rows_ = rows_there;
  }

  [[nodiscard]] double pull(std::size_t i, const Logarithms& x) const {
    return (x[i] - std::log(constants_[i].start)) / constants_[i].spread;
  }

  [[nodiscard]] double loss(const std::vector<ClassResidual>& rows, const Logarithms& x) const {
    if (rows.empty()) return std::numeric_limits<double>::infinity();
    double sum = 0.0;
    for (const ClassResidual& row : rows) {
      const double r = std::abs(row.error) / options_.noise;
      sum += row.weight * (r <= 1.0 ? r * r / 2.0 : r - 0.5);
    }
    for (std::size_t i = 0; i < x.size(); ++i) sum += pull(i, x) * pull(i, x) / 2.0;
    return sum;
  }

  // Derivatives of the rows' errors, by constant that is free.
  [[nodiscard]] std::vector<std::vector<double>> derivatives() const {
    std::vector<std::vector<double>> columns(constants_.size());
    const auto count = static_cast<std::int64_t>(constants_.size());
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t c = 0; c < count; ++c) {
      const auto i = static_cast<std::size_t>(c);
      if (!free_[i]) continue;
      Logarithms moved = x_;
      const double step = x_[i] + kStep <= std::log(constants_[i].high) ? kStep : -kStep;
      moved[i] += step;
      const std::vector<ClassResidual> rows = play(moved);
      columns[i].assign(rows_.size(), 0.0);
      if (rows.size() != rows_.size()) continue;
      for (std::size_t r = 0; r < rows.size(); ++r) columns[i][r] = (rows[r].error - rows_[r].error) / step;
    }
    return columns;
  }

  // Errors jump where a library chooses otherwise, and a constant may matter only beyond: where no nearby point is
  // better, one constant moves by its spread or twice as far, if that helps.
  bool leap() {
    std::vector<Logarithms> tried;
    for (std::size_t i = 0; i < x_.size(); ++i) {
      if (!free_[i]) continue;
      for (const double leap : kLeaps) {
        const double to =
            std::clamp(x_[i] + leap * constants_[i].spread, std::log(constants_[i].low), std::log(constants_[i].high));
        tried.push_back(x_);
        tried.back()[i] = to;
      }
    }
    std::vector<std::vector<ClassResidual>> rows(tried.size());
    const auto count = static_cast<std::int64_t>(tried.size());
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t t = 0; t < count; ++t)
      rows[static_cast<std::size_t>(t)] = play(tried[static_cast<std::size_t>(t)]);
    double least = loss(rows_, x_);
    bool moved = false;
    for (std::size_t t = 0; t < tried.size(); ++t) {
      const double here = loss(rows[t], tried[t]);
      if (here >= least) continue;
      least = here;
      x_ = tried[t];
      rows_ = rows[t];
      moved = true;
    }
    return moved;
  }

  // Huber's function as a parabola at the present residual.
  [[nodiscard]] double curvature(const ClassResidual& row) const {
    const double r = std::abs(row.error) / options_.noise;
    return row.weight / (options_.noise * options_.noise) / std::max(r, 1.0);
  }

  struct Model {
    std::vector<std::size_t> of;  // constants that are free
    SquareMatrix matrix;
    std::vector<double> slope;
  };
  [[nodiscard]] Model model() const {
    std::vector<std::size_t> of;
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (free_[i]) of.push_back(i);
    }
    Model made{.of = of, .matrix = SquareMatrix(of.size()), .slope = std::vector<double>(of.size())};
    const auto columns = derivatives();
    for (std::size_t a = 0; a < of.size(); ++a) {
      const std::vector<double>& first = columns[of[a]];
      for (std::size_t r = 0; r < rows_.size(); ++r) made.slope[a] += curvature(rows_[r]) * first[r] * rows_[r].error;
      for (std::size_t b = 0; b < of.size(); ++b) {
        for (std::size_t r = 0; r < rows_.size(); ++r)
          made.matrix.at(a, b) += curvature(rows_[r]) * first[r] * columns[of[b]][r];
      }
      const double spread = constants_[of[a]].spread;
      made.matrix.at(a, a) += 1.0 / (spread * spread);
      made.slope[a] += pull(of[a], x_) / spread;
    }
    return made;
  }

  [[nodiscard]] Logarithms stepped(const Model& at, double damping) const {
    SquareMatrix damped = at.matrix;
    for (std::size_t a = 0; a < at.of.size(); ++a) damped.at(a, a) *= 1.0 + damping;
    damped.factor();
    const std::vector<double> step = damped.solve(at.slope);
    Logarithms x = x_;
    for (std::size_t a = 0; a < at.of.size(); ++a) {
      const ClassConstant& constant = constants_[at.of[a]];
      x[at.of[a]] = std::clamp(x[at.of[a]] - step[a], std::log(constant.low), std::log(constant.high));
    }
    return x;
  }

  void descend() {
    double damping = kFirstDamping;
    double least = loss(rows_, x_);
    for (int round = 0; round < options_.most_rounds; ++round) {
      ++answer_.rounds;
      const Model here = model();
      if (here.of.empty()) return;
      double gained = 0.0;
      while (gained <= 0.0 && damping < kMostDamping) {
        const Logarithms x = stepped(here, damping);
        const std::vector<ClassResidual> rows = play(x);
        gained = least - loss(rows, x);
        damping = gained > 0.0 ? damping / 5.0 : damping * 5.0;
        if (gained <= 0.0) continue;
        x_ = x;
        rows_ = rows;
      }
      least -= std::max(gained, 0.0);
      if (gained <= kEnough * least) return;
    }
  }

  // The inverse's diagonal: the share of each constant's spread that the rows leave, while the other free ones move as
  // well. Several that only their sum is determined of, as a message's latencies, are each undetermined: the one that
  // the rows determine least goes back to its class value first, which leaves the sum to the others.
  void put_back_undetermined() {
    answer_.determined.assign(constants_.size(), true);
    for (Model here = model(); !here.of.empty();) {
      const std::size_t last = weigh(here);
      const std::size_t constant = here.of[last];
      if (answer_.left_over[constant] <= options_.determined) return;
      answer_.determined[constant] = false;
      free_[constant] = false;
      x_[constant] = std::log(constants_[constant].start);
      here = without(here, last);
    }
  }

  // Returns the place of the one that is determined least.
  std::size_t weigh(Model here) {
    here.matrix.factor();
    std::size_t least = 0;
    for (std::size_t a = 0; a < here.of.size(); ++a) {
      std::vector<double> unit(here.of.size());
      unit[a] = 1.0;
      answer_.left_over[here.of[a]] = std::sqrt(here.matrix.solve(unit)[a]) / constants_[here.of[a]].spread;
      if (answer_.left_over[here.of[a]] > answer_.left_over[here.of[least]]) least = a;
    }
    return least;
  }

  [[nodiscard]] static Model without(const Model& all, std::size_t place) {
    Model rest{.of = {}, .matrix = SquareMatrix(all.of.size() - 1), .slope = {}};
    for (std::size_t a = 0; a < all.of.size(); ++a) {
      if (a == place) continue;
      for (std::size_t b = 0; b < a; ++b) {
        if (b == place) continue;
        const double cell = all.matrix.at(a, b);
        const std::size_t row = rest.of.size(), column = b - (b > place ? 1 : 0);
        rest.matrix.at(row, column) = rest.matrix.at(column, row) = cell;
      }
      rest.matrix.at(rest.of.size(), rest.of.size()) = all.matrix.at(a, a);
      rest.of.push_back(all.of[a]);
      rest.slope.push_back(all.slope[a]);
    }
    return rest;
  }

  std::span<const ClassConstant> constants_;
  const ClassResiduals& residuals_;
  const ClassFitOptions& options_;
  ClassFitAnswer answer_;
  Logarithms x_;
  std::vector<bool> free_;
  std::vector<ClassResidual> rows_;
};

}  // namespace

ClassFitAnswer fit_to_class(std::span<const ClassConstant> constants, const ClassResiduals& residuals,
                            const ClassFitOptions& options) {
  return Search(constants, residuals, options).run();
}

}  // namespace ringwright::validation
