#include "workload/options/expert_visits.h"

#include <algorithm>
#include <cstdint>

#include "workload/model/model_shape.h"

namespace ringwright::workload {
namespace {

// C(n, k) / C(all, k): the share of choices of k out of `all` that are among n of them.
double share_among(double n, std::int64_t k, double all) {
  double share = 1.0;
  for (std::int64_t choice = 0; choice < k; ++choice) {
    const auto gone = static_cast<double>(choice);
    share *= std::max(0.0, n - gone) / (all - gone);
  }
  return share;
}

double binomial(std::int64_t n, std::int64_t k) {
  double combinations = 1.0;
  for (std::int64_t i = 1; i <= k; ++i) combinations *= static_cast<double>(n - k + i) / static_cast<double>(i);
  return combinations;
}

// Of so many equal places, those that have at least one of the chosen experts.
double visited_without_limit(std::int64_t experts, std::int64_t choices, double places) {
  const auto all = static_cast<double>(experts);
  return places * (1.0 - share_among(all - all / places, choices, all));
}

// Of places with several groups each, those that have one of the chosen groups, of which each is used.
double visited_with_groups(const ExpertShape& experts, std::int64_t places) {
  const auto groups = static_cast<double>(experts.groups);
  return static_cast<double>(places) *
         (1.0 - share_among(groups - groups / static_cast<double>(places), experts.group_limit, groups));
}

// Of places with a part of a group each: choices of experts in which every chosen group has one, by inclusion and
// exclusion, and those of them that leave out a place of one of the groups.
double visited_within_groups(const ExpertShape& experts, std::int64_t places) {
  const auto group = static_cast<double>(experts.count) / static_cast<double>(experts.groups);
  const double all = group * static_cast<double>(experts.group_limit);
  const double place = static_cast<double>(experts.count) / static_cast<double>(places);
  double used = 0.0;
  double missed = 0.0;
  double sign = 1.0;
  for (std::int64_t empty = 0; empty <= experts.group_limit; ++empty, sign = -sign) {
    const double left = all - static_cast<double>(empty) * group;
    used += sign * binomial(experts.group_limit, empty) * share_among(left, experts.per_token, all);
    if (empty == experts.group_limit) break;
    missed += sign * binomial(experts.group_limit - 1, empty) *
              (share_among(left - place, experts.per_token, all) - share_among(left - group, experts.per_token, all));
  }
  const double reached = static_cast<double>(places) / static_cast<double>(experts.groups) *
                         static_cast<double>(experts.group_limit);
  return reached * (1.0 - missed / used);
}

}  // namespace

double places_visited(const ExpertShape& experts, int places) {
  const double unlimited = visited_without_limit(experts.count, experts.per_token, places);
  if (experts.group_limit >= experts.groups || experts.per_token < experts.group_limit) return unlimited;
  if (experts.groups % places == 0) return std::min(unlimited, visited_with_groups(experts, places));
  if (places % experts.groups == 0) return std::min(unlimited, visited_within_groups(experts, places));
  // A group spans so many places at most.
  const double spanned = static_cast<double>(places) / static_cast<double>(experts.groups) + 1.0;
  return std::min(unlimited, static_cast<double>(experts.group_limit) * spanned);
}

}  // namespace ringwright::workload
