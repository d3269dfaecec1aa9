#include "network_models/probing/net_bouncer.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <map>
#include <utility>

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

constexpr int kMostRounds = 1000;
constexpr double kSettled = 1e-12;  // the largest change of a rate in the last round

class Descent {
 public:
  // `left_out`: by path; none where it is empty.
  Descent(const ProbePlan& plan, std::span<const double> success, double penalty, std::vector<bool> left_out = {})
      : plan_(plan),
        success_(success),
        penalty_(penalty),
        left_out_(std::move(left_out)),
        rates_(plan.cables().size(), 1.0) {
    left_out_.resize(plan.path_count(), false);
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
      if (success_[path] >= 1.0 || left_out_[path]) continue;
      for (const std::uint32_t cable : plan_.path(path)) lost[cable] = true;
    }
    std::vector<std::vector<std::uint32_t>> paths(rates_.size());
    for (std::size_t path = 0; path < plan_.path_count(); ++path) {
      if (left_out_[path]) continue;
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
  std::vector<bool> left_out_;  // by path
  std::vector<double> rates_;   // by cable
  std::vector<std::uint32_t> suspects_;
  std::vector<std::vector<std::uint32_t>> paths_of_;  // by suspect
};

std::vector<std::uint32_t> lossy_cables(const std::vector<double>& rates, double threshold) {
  std::vector<std::uint32_t> found;
  for (std::uint32_t cable = 0; cable < rates.size(); ++cable) {
    if (1.0 - rates[cable] > threshold) found.push_back(cable);
  }
  return found;
}

// What the paths over a switch tell of it.
struct SwitchPaths {
  bool has_good = false;
  std::vector<std::uint32_t> shared;  // cables that all paths so far have
  std::vector<std::size_t> paths;

  void add(const ProbePlan& plan, std::size_t number, bool good) {
    const auto path = plan.path(number);
    has_good = has_good || good;
    if (paths.empty()) {
      shared.assign(path.begin(), path.end());
    } else {
      std::erase_if(shared, [path](std::uint32_t cable) { return std::ranges::find(path, cable) == path.end(); });
    }
    paths.push_back(number);
  }
  [[nodiscard]] bool may_be_lossy() const { return !has_good && shared.empty(); }
};

std::vector<NodeId> lossy_switches(const ProbePlan& plan, std::span<const double> success, double threshold) {
  std::map<NodeId, SwitchPaths> switches;
  for (std::size_t path = 0; path < plan.path_count(); ++path) {
    for (const std::uint32_t cable : plan.path(path)) {
      switches[plan.upper_end(cable)].add(plan, path, 1.0 - success[path] <= threshold);
    }
  }
  std::erase_if(switches, [](const auto& entry) { return !entry.second.may_be_lossy(); });
  // All paths of a spine may lead over one core: the core alone explains them. Those with most paths first.
  std::vector<NodeId> candidates;
  for (const auto& [node, paths] : switches) candidates.push_back(node);
  const auto path_count = [&](NodeId node) { return switches[node].paths.size(); };
  std::ranges::stable_sort(candidates, std::ranges::greater(), path_count);
  std::vector<bool> explained(plan.path_count(), false);
  std::vector<NodeId> lossy;
  for (const NodeId node : candidates) {
    const std::vector<std::size_t>& paths = switches[node].paths;
    if (std::ranges::all_of(paths, [&](std::size_t path) { return explained[path]; })) continue;
    for (const std::size_t path : paths) explained[path] = true;
    lossy.push_back(node);
  }
  std::ranges::sort(lossy);
  return lossy;
}

}  // namespace

LossyParts find_lossy_parts(const ProbePlan& plan, std::span<const double> success, const NetBouncerOptions& options) {
  CHECK(success.size() == plan.path_count(), "every path has a success rate");
  LossyParts found{.switches = lossy_switches(plan, success, options.threshold), .cables = {}};
  const auto is_lossy = [&found](NodeId node) { return std::ranges::binary_search(found.switches, node); };
  std::vector<bool> left_out(plan.path_count(), false);
  for (std::size_t path = 0; path < plan.path_count(); ++path) {
    left_out[path] = std::ranges::any_of(plan.path(path), [&](auto cable) { return is_lossy(plan.upper_end(cable)); });
  }
  found.cables =
      lossy_cables(Descent(plan, success, options.penalty, std::move(left_out)).run(), options.threshold);
  if (found.switches.empty()) return found;
  for (std::uint32_t cable = 0; cable < plan.cables().size(); ++cable) {
    if (is_lossy(plan.upper_end(cable)) || is_lossy(plan.lower_end(cable))) found.cables.push_back(cable);
  }
  std::ranges::sort(found.cables);
  const auto twice = std::ranges::unique(found.cables);
  found.cables.erase(twice.begin(), twice.end());
  return found;
}

std::vector<double> estimate_success(const ProbePlan& plan, std::span<const double> success,
                                     const NetBouncerOptions& options) {
  CHECK(success.size() == plan.path_count(), "every path has a success rate");
  return Descent(plan, success, options.penalty).run();
}

std::vector<std::uint32_t> find_lossy_cables(const ProbePlan& plan, std::span<const double> success,
                                             const NetBouncerOptions& options) {
  return lossy_cables(estimate_success(plan, success, options), options.threshold);
}

}  // namespace ringwright::network_models
