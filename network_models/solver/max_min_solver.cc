#include "network_models/solver/max_min_solver.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
// A remainder this small compared with a subtracted share is summed again: 1e-16 of the share would be 1e-13 of the
// remainder.
constexpr double kCancellation = 1e-3;

}  // namespace

void MaxMinSolver::solve(const MaxMinProblem& problem, MaxMinSolution& solution) {
  reset(problem, solution);
  while (true) {
    find_lowest_levels(problem);
    freeze_on_final_links(problem, solution);
    if (rising_.empty()) return;
    CHECK(!frozen_.empty(), "a round of water filling must freeze a flow");
    take_from_links(problem, solution);
    if (shares_cancel_) sum_up_shares(problem);
    raise_levels();
  }
}

void MaxMinSolver::reset(const MaxMinProblem& problem, MaxMinSolution& solution) {
  const std::size_t flows = problem.first_hop.size() - 1;
  solution.rate.assign(flows, kInfinite);
  solution.bottleneck.assign(flows, kNoBottleneck);
  lowest_level_.resize(flows);

  links_.resize(problem.capacity.size());
  for (std::size_t l = 0; l < links_.size(); ++l) {
    links_[l] = {
        .remaining = problem.capacity[l], .rising_share = 0.0, .level = kInfinite, .rising = 0, .lowest_of = 0};
  }
  for (std::size_t h = 0; h < problem.hop_link.size(); ++h) {
    Link& link = links_[problem.hop_link[h]];
    link.rising_share += problem.hop_share[h];
    ++link.rising;
  }
  rising_links_.resize(links_.size());
  for (std::size_t l = 0; l < links_.size(); ++l) rising_links_[l] = static_cast<std::uint32_t>(l);
  raise_levels();

  rising_.clear();
  for (std::size_t f = 0; f < flows; ++f) {
    if (problem.first_hop[f] < problem.first_hop[f + 1]) rising_.push_back(static_cast<std::uint32_t>(f));
  }
}

void MaxMinSolver::find_lowest_levels(const MaxMinProblem& problem) {
  for (const std::uint32_t f : rising_) {
    const std::uint32_t end = problem.first_hop[f + 1];
    double lowest = kInfinite;
    for (std::uint32_t h = problem.first_hop[f]; h < end; ++h) {
      lowest = std::min(lowest, links_[problem.hop_link[h]].level);
    }
    lowest_level_[f] = lowest;
    for (std::uint32_t h = problem.first_hop[f]; h < end; ++h) {
      Link& link = links_[problem.hop_link[h]];
      link.lowest_of += link.level <= lowest ? 1U : 0U;
    }
  }
}

void MaxMinSolver::freeze_on_final_links(const MaxMinProblem& problem, MaxMinSolution& solution) {
  frozen_.clear();
  std::size_t kept = 0;
  for (const std::uint32_t f : rising_) {
    const double lowest = lowest_level_[f];
    std::uint32_t bottleneck = kNoBottleneck;
    for (std::uint32_t h = problem.first_hop[f]; h < problem.first_hop[f + 1]; ++h) {
      const Link& link = links_[problem.hop_link[h]];
      if (link.level <= lowest && link.lowest_of == link.rising) {
        bottleneck = problem.hop_link[h];
        break;
      }
    }
    if (bottleneck == kNoBottleneck) {
      rising_[kept++] = f;
      continue;
    }
    solution.rate[f] = lowest;
    solution.bottleneck[f] = bottleneck;
    frozen_.push_back(f);
  }
  rising_.resize(kept);
}

// Separate from freezing, since a link's count of rising flows must not change while a round checks which links are
// final.
void MaxMinSolver::take_from_links(const MaxMinProblem& problem, const MaxMinSolution& solution) {
  for (const std::uint32_t f : frozen_) {
    for (std::uint32_t h = problem.first_hop[f]; h < problem.first_hop[f + 1]; ++h) {
      Link& link = links_[problem.hop_link[h]];
      link.remaining -= problem.hop_share[h] * solution.rate[f];
      link.rising_share -= problem.hop_share[h];
      --link.rising;
      if (link.rising > 0 && link.rising_share < kCancellation * problem.hop_share[h]) shares_cancel_ = true;
    }
  }
}

void MaxMinSolver::sum_up_shares(const MaxMinProblem& problem) {
  shares_cancel_ = false;
  for (const std::uint32_t l : rising_links_) links_[l].rising_share = 0.0;
  for (const std::uint32_t f : rising_) {
    for (std::uint32_t h = problem.first_hop[f]; h < problem.first_hop[f + 1]; ++h) {
      links_[problem.hop_link[h]].rising_share += problem.hop_share[h];
    }
  }
}

void MaxMinSolver::raise_levels() {
  std::size_t kept = 0;
  for (const std::uint32_t l : rising_links_) {
    Link& link = links_[l];
    if (link.rising == 0) continue;
    link.level = std::max(link.remaining, 0.0) / link.rising_share;
    link.lowest_of = 0;
    rising_links_[kept++] = l;
  }
  rising_links_.resize(kept);
}

}  // namespace ringwright::network_models
