#include "network_models/probing/net_bouncer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

constexpr int kMostRounds = 1000;
constexpr double kSettled = 1e-12;  // the largest change of a rate in the last round

class Descent {
 public:
  Descent(const ProbePlan& plan, std::span<const double> success, double penalty)
      : plan_(plan), success_(success), penalty_(penalty), rates_(plan.cables().size(), 1.0) {
    find_suspects();
  }

  std::vector<double> run() {
    for (int round = 0; round < kMostRounds; ++round) {
      double change = 0.0;
      for (std::size_t i = 0; i < suspects_.size(); ++i) change = std::max(change, improve(i));
      if (change <= kSettled) break;
    }
    return std::move(rates_);
  }

 private:
  // A cable all of whose paths succeed has rate 1, whatever the others have.
  void find_suspects() {
    std::vector<bool> lost(rates_.size(), false);
    for (std::size_t path = 0; path < plan_.path_count(); ++path) {
      if (success_[path] >= 1.0) continue;
      for (const std::uint32_t cable : plan_.path(path)) lost[cable] = true;
    }
    std::vector<std::vector<std::uint32_t>> paths(rates_.size());
    for (std::size_t path = 0; path < plan_.path_count(); ++path) {
      for (const std::uint32_t cable : plan_.path(path)) {
        if (lost[cable]) paths[cable].push_back(static_cast<std::uint32_t>(path));
      }
    }
    for (std::uint32_t cable = 0; cable < rates_.size(); ++cable) {
      if (!lost[cable]) continue;
      double sum = 0.0;
      for (const std::uint32_t path : paths[cable]) sum += success_[path];
      rates_[cable] = sum / static_cast<double>(paths[cable].size());
      suspects_.push_back(cable);
      paths_of_.push_back(std::move(paths[cable]));
    }
  }

  // With a = the product of the other rates of a path: (sum a^2 - penalty) x^2 - (2 sum a y - penalty) x, up to a
  // constant.
  double improve(std::size_t suspect) {
    const std::uint32_t cable = suspects_[suspect];
    double squares = -penalty_;
    double products = -penalty_ / 2.0;
    for (const std::uint32_t path : paths_of_[suspect]) {
      double others = 1.0;
      for (const std::uint32_t other : plan_.path(path)) {
        if (other != cable) others *= rates_[other];
      }
      squares += others * others;
      products += others * success_[path];
    }
    const double before = rates_[cable];
    if (squares > 0.0) {
      rates_[cable] = std::clamp(products / squares, 0.0, 1.0);
    } else if (squares < 0.0 || std::abs(products) > 0.0) {
      rates_[cable] = squares - 2.0 * products < 0.0 ? 1.0 : 0.0;  // no minimum between the ends
    }
    return std::abs(rates_[cable] - before);
  }

  const ProbePlan& plan_;
  std::span<const double> success_;
  double penalty_;
  std::vector<double> rates_;  // by cable
  std::vector<std::uint32_t> suspects_;
  std::vector<std::vector<std::uint32_t>> paths_of_;  // by suspect
};

}  // namespace

std::vector<double> estimate_success(const ProbePlan& plan, std::span<const double> success,
                                     const NetBouncerOptions& options) {
  CHECK(success.size() == plan.path_count(), "every path has a success rate");
  return Descent(plan, success, options.penalty).run();
}

std::vector<std::uint32_t> find_lossy_cables(const ProbePlan& plan, std::span<const double> success,
                                             const NetBouncerOptions& options) {
  const std::vector<double> rates = estimate_success(plan, success, options);
  std::vector<std::uint32_t> found;
  for (std::uint32_t cable = 0; cable < rates.size(); ++cable) {
    if (1.0 - rates[cable] > options.threshold) found.push_back(cable);
  }
  return found;
}

}  // namespace ringwright::network_models
