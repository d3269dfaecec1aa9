#include "network_models/solver/chosen_paths.h"

#include "core/base/check.h"

namespace ringwright::network_models {

std::uint32_t ChosenPaths::renumber() {
  ++solve_number_;
  CHECK(solve_number_ != 0, "the number of solves has overflowed");
  return solve_number_;
}

void ChosenPaths::clear() {
  (void)renumber();
  chosen_.clear();
  visits_.clear();
  first_hop_.assign(1, 0);
  hop_link_.clear();
  hop_share_.clear();
}

std::uint32_t ChosenPaths::visit_of(std::uint32_t link) {
  PathTable::Link& row = table_.link(link);
  if (row.visited_in == solve_number_) return row.visit;
  row.visited_in = solve_number_;
  row.visit = static_cast<std::uint32_t>(visits_.size());
  visits_.push_back({.link = link});
  return row.visit;
}

// Continues where it stopped. Loose links bound nothing.
void ChosenPaths::gather() {
  for (std::size_t i = first_hop_.size() - 1; i < chosen_.size(); ++i) {
    const PathTable::Path& path = table_.path(chosen_[i]);
    for (const LinkShare& hop : table_.links_of(path)) {
      if (table_.link(hop.link).is_loose()) continue;
      const std::uint32_t visit = visit_of(hop.link);
      ++visits_[visit].chosen;
      hop_link_.push_back(visit);
      hop_share_.push_back(hop.share * path.weight);
    }
    first_hop_.push_back(static_cast<std::uint32_t>(hop_link_.size()));
  }
}

double ChosenPaths::fixed_load(const PathTable::Link& link) const {
  double load = 0.0;
  for (const PathTable::Member& member : table_.members_of(link)) {
    const PathTable::Path& path = table_.path(member.path);
    if (!contains(path)) load += member.share * path.weight * path.rate;
  }
  return load;
}

void ChosenPaths::fill() {
  gather();
  capacity_.resize(visits_.size());
  for (std::size_t v = 0; v < visits_.size(); ++v) {
    Visit& visit = visits_[v];
    visit.is_bottleneck = false;
    if (visit.chosen == visit.chosen_before) continue;  // the others take as much as before
    visit.chosen_before = visit.chosen;
    const PathTable::Link& link = table_.link(visit.link);
    capacity_[v] = link.capacity;
    if (visit.chosen < link.member_count) capacity_[v] -= fixed_load(link);
  }
  solver_.solve({.first_hop = first_hop_, .hop_link = hop_link_, .hop_share = hop_share_, .capacity = capacity_},
                solution_);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    Visit& visit = visits_[solution_.bottleneck[i]];
    visit.is_bottleneck = true;
    visit.level = solution_.rate[i];
  }
}

}  // namespace ringwright::network_models
