#include "network_models/solver/incremental_max_min.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

// Tolerance of the certificate's comparisons: far above the rounding of sums of thousands of rates (1e-12), far below
// any difference of rates that matters.
constexpr double kTolerance = 1e-9;
// A rate that moves by less than this has not changed: rounding alone must not move a flow's end.
constexpr double kSameRate = 1e-12;

}  // namespace

IncrementalMaxMin::IncrementalMaxMin(std::span<const Bandwidth> capacities) {
  links_.resize(capacities.size());
  for (std::size_t l = 0; l < links_.size(); ++l) links_[l].capacity = capacities[l].count();
}

void IncrementalMaxMin::place(FlowSlot flow, std::span<const Hop> route) {
  if (flow >= flows_.size()) flows_.resize(flow + 1);
  Flow& row = flows_[flow];
  DCHECK(!row.entered, "a flow gets its path before it enters");
  forget(flow);
  row = {};
  row.hops = static_cast<std::uint32_t>(route.size());
  if (route.empty()) return;
  row.first_hop = hops_.take(block_order(route.size()));
  LinkShare* hop = hops_.at(row.first_hop);
  for (const Hop& step : route) {
    DCHECK(step.share > 0.0, "a hop of a path must have a positive share");
    *hop++ = {.link = step.link.value, .place = 0, .share = step.share * step.multiplicity};
  }
}

bool IncrementalMaxMin::is_route(FlowSlot flow, std::span<const Hop> route_asked) const {
  return std::ranges::equal(route(flow), route_asked, [](const LinkShare& own, const Hop& asked) {
    return own.link == asked.link.value && std::abs(own.share - asked.share * asked.multiplicity) <= 0.0;
  });
}

bool IncrementalMaxMin::route_is_empty(FlowSlot flow) const {
  const std::span<const LinkShare> hops = route(flow);
  return std::ranges::all_of(hops, [this](const LinkShare& hop) { return links_[hop.link].member_count == 0; });
}

double IncrementalMaxMin::rate_alone(FlowSlot flow) const {
  double rate = std::numeric_limits<double>::infinity();
  for (const LinkShare& hop : route(flow)) rate = std::min(rate, links_[hop.link].capacity / hop.share);
  return rate;
}

void IncrementalMaxMin::forget(FlowSlot flow) {
  Flow& row = flows_[flow];
  if (row.hops > 0) hops_.give_back(row.first_hop, block_order(row.hops));
  row.hops = 0;
}

void IncrementalMaxMin::set_capacity(LinkId link, Bandwidth capacity) {
  Link& row = links_[link.index()];
  row.capacity = capacity.count();
  row.resized = true;
  touch(link.value);
}

void IncrementalMaxMin::touch(std::uint32_t link) {
  if (links_[link].touched) return;
  links_[link].touched = true;
  touched_.push_back(link);
}

void IncrementalMaxMin::choose(PathSlot path) {
  Path& row = paths_[path];
  if (row.chosen_in == solve_number_) return;
  row.chosen_in = solve_number_;
  row.row = static_cast<std::uint32_t>(chosen_.size());
  chosen_.push_back(path);
}

// False: it shares a link, or already has its rate.
bool IncrementalMaxMin::settle_alone(PathSlot path) {
  Path& row = paths_[path];
  const std::span<const LinkShare> hops = links_of(row);
  const bool alone =
      std::ranges::all_of(hops, [this](const LinkShare& hop) { return links_[hop.link].member_count == 1; });
  if (!alone || row.chosen_in == solve_number_ || row.bottleneck != kNoBottleneck) return false;
  double rate = std::numeric_limits<double>::infinity();
  for (const LinkShare& hop : hops) {
    const double level = links_[hop.link].capacity / (hop.share * row.weight);
    if (level >= rate) continue;
    rate = level;
    row.bottleneck = hop.link;
  }
  ++links_[row.bottleneck].bottleneck_of;
  row.chosen_in = solve_number_;
  row.rate = rate;
  work_.flows_resolved += row.flows.size();
  ++alone_;
  return true;
}

std::span<const FlowSlot> IncrementalMaxMin::solve() {
  ++solve_number_;
  CHECK(solve_number_ != 0, "the number of solves has overflowed");
  chosen_.clear();
  alone_ = 0;
  changed_.clear();
  visits_.clear();
  problem_first_hop_.assign(1, 0);
  problem_hop_link_.clear();
  problem_hop_share_.clear();

  choose_first();
  while (!chosen_.empty()) {
    if (2 * chosen_.size() > path_count_ - alone_) choose_all();
    gather();
    fill();
    if (chosen_.size() == path_count_ - alone_) break;
    const std::size_t before = chosen_.size();
    check_certificate();
    if (chosen_.size() == before) break;
  }
  adopt();
  report_entered();
  return changed_;
}

void IncrementalMaxMin::choose_first() {
  for (const FlowSlot flow : entered_) {
    if (flows_[flow].entered && !settle_alone(flows_[flow].path)) choose(flows_[flow].path);
  }
  for (const std::uint32_t l : touched_) {
    Link& link = links_[l];
    if (link.bottleneck_of > 0 || link.resized) {
      const Member* members = members_.at(link.members);
      for (std::uint32_t m = 0; m < link.member_count; ++m) {
        // On a link that has shrunk even flows limited elsewhere may be too fast.
        if (link.resized || paths_[members[m].path].bottleneck == l) choose(members[m].path);
      }
    }
    link.touched = false;
    link.resized = false;
  }
  touched_.clear();
}

void IncrementalMaxMin::choose_all() {
  if (chosen_.size() == path_count_ - alone_) return;
  for (std::size_t p = 0; p < paths_.size(); ++p) {
    if (paths_[p].hops > 0) choose(static_cast<PathSlot>(p));
  }
}

// Builds a small problem of the chosen flows and the links they cross, renumbered; continues where it stopped.
void IncrementalMaxMin::gather() {
  for (std::size_t i = problem_first_hop_.size() - 1; i < chosen_.size(); ++i) {
    const Path& path = paths_[chosen_[i]];
    const LinkShare* hop = path_hops_.at(path.first_hop);
    for (const LinkShare* end = hop + path.hops; hop < end; ++hop) {
      if (!is_visited(hop->link)) {
        links_[hop->link].visit = static_cast<std::uint32_t>(visits_.size());
        visits_.push_back({.link = hop->link});
      }
      const std::uint32_t visit = links_[hop->link].visit;
      ++visits_[visit].chosen;
      problem_hop_link_.push_back(visit);
      problem_hop_share_.push_back(hop->share * path.weight);
    }
    problem_first_hop_.push_back(static_cast<std::uint32_t>(problem_hop_link_.size()));
  }
}

double IncrementalMaxMin::load(LinkId link) const {
  const Link& row = links_[link.index()];
  double sum = 0.0;
  for (const Member& member : std::span(members_.at(row.members), row.member_count)) {
    sum += member.share * paths_[member.path].weight * paths_[member.path].rate;
  }
  return sum;
}

double IncrementalMaxMin::fixed_load(const Link& link) const {
  double load = 0.0;
  const Member* members = members_.at(link.members);
  for (std::uint32_t m = 0; m < link.member_count; ++m) {
    const Path& path = paths_[members[m].path];
    if (path.chosen_in != solve_number_) load += members[m].share * path.weight * path.rate;
  }
  return load;
}

void IncrementalMaxMin::fill() {
  problem_capacity_.resize(visits_.size());
  for (std::size_t v = 0; v < visits_.size(); ++v) {
    const Link& link = links_[visits_[v].link];
    problem_capacity_[v] = link.capacity;
    if (visits_[v].chosen < link.member_count) problem_capacity_[v] -= fixed_load(link);
    visits_[v].is_bottleneck = false;
  }
  solver_.solve({.first_hop = problem_first_hop_,
                 .hop_link = problem_hop_link_,
                 .hop_share = problem_hop_share_,
                 .capacity = problem_capacity_},
                solution_);
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    Visit& visit = visits_[solution_.bottleneck[i]];
    visit.is_bottleneck = true;
    visit.level = solution_.rate[i];
  }
}

void IncrementalMaxMin::check_certificate() {
  broken_.clear();
  for (const Visit& visit : visits_) {
    const Link& link = links_[visit.link];
    if (visit.chosen == link.member_count) continue;
    if (visit.is_bottleneck || link.bottleneck_of > 0) check_link(visit);
  }
  for (const PathSlot path : broken_) choose(path);
}

// Finds the paths that have to be chosen too, given the load of the chosen ones on this link.
void IncrementalMaxMin::check_link(const Visit& visit) {
  const Link& link = links_[visit.link];
  const std::span members(members_.at(link.members), link.member_count);
  double load = 0.0;
  double fastest_chosen = 0.0;
  for (const Member& member : members) {
    const Path& path = paths_[member.path];
    const bool is_chosen = path.chosen_in == solve_number_;
    const double rate = is_chosen ? solution_.rate[path.row] : path.rate;
    load += member.share * path.weight * rate;
    if (is_chosen) fastest_chosen = std::max(fastest_chosen, rate);
  }
  const bool is_full = load >= link.capacity * (1.0 - kTolerance);
  for (const Member& member : members) {
    const Path& path = paths_[member.path];
    if (path.chosen_in == solve_number_) continue;
    const bool hinders = visit.is_bottleneck && path.rate > visit.level * (1.0 + kTolerance);
    const bool has_lost_bottleneck =
        path.bottleneck == visit.link && (!is_full || fastest_chosen > path.rate * (1.0 + kTolerance));
    if (hinders || has_lost_bottleneck) broken_.push_back(member.path);
  }
}

void IncrementalMaxMin::adopt() {
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    Path& path = paths_[chosen_[i]];
    if (path.bottleneck != kNoBottleneck) --links_[path.bottleneck].bottleneck_of;
    path.bottleneck = visits_[solution_.bottleneck[i]].link;
    ++links_[path.bottleneck].bottleneck_of;
    work_.flows_resolved += path.flows.size();
    const double rate = solution_.rate[i];
    if (std::abs(rate - path.rate) <= kSameRate * path.rate) continue;
    path.rate = rate;
    for (const FlowSlot flow : path.flows) report(flow);
  }
  const std::size_t solved = chosen_.size() + alone_;
  if (solved == 0) return;
  ++work_.solves;
  if (solved == path_count_) ++work_.full_solves;
}

void IncrementalMaxMin::report(FlowSlot flow) {
  if (flows_[flow].reported_in == solve_number_) return;
  flows_[flow].reported_in = solve_number_;
  changed_.push_back(flow);
}

// They had no rate, even where their path keeps its rate.
void IncrementalMaxMin::report_entered() {
  for (const FlowSlot flow : entered_) {
    if (flows_[flow].entered) report(flow);
  }
  entered_.clear();
}

double IncrementalMaxMin::largest_error() const {
  std::vector<std::uint32_t> first_hop = {0};
  std::vector<std::uint32_t> hop_link;
  std::vector<double> hop_share;
  std::vector<PathSlot> entered;
  for (std::size_t p = 0; p < paths_.size(); ++p) {
    if (paths_[p].hops == 0) continue;
    entered.push_back(static_cast<PathSlot>(p));
    for (const LinkShare& hop : links_of(paths_[p])) {
      hop_link.push_back(hop.link);
      hop_share.push_back(hop.share * paths_[p].weight);
    }
    first_hop.push_back(static_cast<std::uint32_t>(hop_link.size()));
  }
  std::vector<double> capacity(links_.size());
  for (std::size_t l = 0; l < links_.size(); ++l) capacity[l] = links_[l].capacity;

  MaxMinSolver solver;
  MaxMinSolution fresh;
  solver.solve({.first_hop = first_hop, .hop_link = hop_link, .hop_share = hop_share, .capacity = capacity}, fresh);
  double largest = 0.0;
  for (std::size_t i = 0; i < entered.size(); ++i) {
    const double kept = paths_[entered[i]].rate;
    const double scale = std::max(std::abs(kept), std::abs(fresh.rate[i]));
    if (scale > 0.0) largest = std::max(largest, std::abs(kept - fresh.rate[i]) / scale);
  }
  return largest;
}

}  // namespace ringwright::network_models
