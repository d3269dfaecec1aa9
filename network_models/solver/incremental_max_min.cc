#include "network_models/solver/incremental_max_min.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ringwright::network_models {
namespace {

// Beyond so many chosen paths their levels are found in order, and not in rounds that are repeated for each choice.
constexpr std::size_t kManyPaths = 64;
// How many paths ahead rows are prefetched.
constexpr std::size_t kAdoptedAhead = 4;

}  // namespace

bool IncrementalMaxMin::is_route(FlowSlot flow, std::span<const Hop> route_asked) const {
  return std::ranges::equal(route(flow), route_asked, [](const LinkShare& own, const Hop& asked) {
    return own.link == asked.link.value && std::abs(own.share - asked.share * asked.multiplicity) <= 0.0;
  });
}

bool IncrementalMaxMin::route_is_empty(FlowSlot flow) const {
  return std::ranges::all_of(route(flow), [this](const LinkShare& hop) { return is_empty(LinkId(hop.link)); });
}

bool IncrementalMaxMin::is_alone(FlowSlot flow) const {
  const PathTable::Flow& row = table_.flow(flow);
  const auto is_only = [this](const LinkShare& hop) { return table_.count_in_use(table_.link(hop.link), 2) == 1; };
  return table_.path(row.path).flows.size() == 1 && std::ranges::all_of(route(flow), is_only);
}

double IncrementalMaxMin::rate_alone(FlowSlot flow) const {
  double rate = std::numeric_limits<double>::infinity();
  for (const LinkShare& hop : route(flow)) rate = std::min(rate, table_.link(hop.link).capacity / hop.share);
  return rate;
}

double IncrementalMaxMin::load(LinkId link) const {
  double sum = 0.0;
  for (const PathTable::Member& member : table_.members_of(table_.link(link.value))) {
    const PathTable::Path& path = table_.path(member.path);
    sum += member.share * path.weight * path.rate;
  }
  return sum;
}

// False: it shares a link, or already has its rate.
bool IncrementalMaxMin::settle_alone(PathSlot path) {
  PathTable::Path& row = table_.path(path);
  const std::span<const LinkShare> hops = table_.links_of(row);
  const bool alone =
      std::ranges::all_of(hops, [this](const LinkShare& hop) { return table_.link(hop.link).member_count == 1; });
  if (!alone || chosen_.contains(row) || row.bottleneck != kNoBottleneck) return false;
  double rate = std::numeric_limits<double>::infinity();
  for (const LinkShare& hop : hops) {
    const double level = table_.link(hop.link).capacity / (hop.share * row.weight);
    if (level >= rate) continue;
    rate = level;
    row.bottleneck = hop.link;
  }
  ++table_.link(row.bottleneck).bottleneck_of;
  row.chosen_in = chosen_.solve_number();
  row.rate = rate;
  work_.flows_resolved += row.flows.size();
  ++alone_;
  return true;
}

template <class Filled>
void IncrementalMaxMin::adopt(const Filled& filled) {
  for (std::size_t i = 0; i < filled.size(); ++i) {
    if (i + 2 * kAdoptedAhead < filled.size()) table_.prefetch_path(filled[i + 2 * kAdoptedAhead]);
    if (i + kAdoptedAhead < filled.size()) table_.prefetch_flow(filled[i + kAdoptedAhead]);
    PathTable::Path& path = table_.path(filled[i]);
    if (path.bottleneck != kNoBottleneck) --table_.link(path.bottleneck).bottleneck_of;
    path.bottleneck = filled.bottleneck(i);
    ++table_.link(path.bottleneck).bottleneck_of;
    work_.flows_resolved += path.flows.size();
    const double rate = filled.rate(i);
    if (std::abs(rate - path.rate) <= kSameRate * path.rate) continue;
    path.rate = rate;
    for (const FlowSlot flow : path.flows) report(flow);
  }
  const std::size_t solved = filled.size() + alone_;
  if (solved == 0) return;
  ++work_.solves;
  if (solved == table_.path_count()) ++work_.full_solves;
}

std::span<const FlowSlot> IncrementalMaxMin::solve() {
  chosen_.clear();
  alone_ = 0;
  changed_.clear();

  table_.remove_empty_paths();
  choose_first();
  while (chosen_.size() > 0) {
    if (2 * chosen_.size() > table_.path_count() - alone_) {
      choose_all();
    } else if (chosen_.size() > kManyPaths) {
      fill_locally();
      return changed_;
    }
    chosen_.fill();
    if (chosen_.size() == table_.path_count() - alone_) break;
    const std::size_t before = chosen_.size();
    check_certificate();
    if (chosen_.size() == before) break;
  }
  adopt(chosen_);
  report_entered();
  return changed_;
}

void IncrementalMaxMin::fill_locally() {
  local_.begin(chosen_.renumber());
  for (std::size_t i = 0; i < chosen_.size(); ++i) local_.choose(chosen_[i]);
  local_.fill();
  adopt(local_);
  report_entered();
}

void IncrementalMaxMin::choose_first() {
  for (const FlowSlot flow : entered_) {
    const PathTable::Flow& row = table_.flow(flow);
    if (row.entered && table_.path(row.path).has_changed() && !settle_alone(row.path)) chosen_.choose(row.path);
  }
  table_.take_changed_paths();
  table_.take_touched([this](std::uint32_t l) {
    const PathTable::Link& link = table_.link(l);
    if (link.bottleneck_of == 0 && !link.resized) return;
    for (const PathTable::Member& member : table_.members_of(link)) {
      // On a link that has shrunk even flows limited elsewhere may be too fast.
      if (link.resized || table_.path(member.path).bottleneck == l) chosen_.choose(member.path);
    }
  });
}

void IncrementalMaxMin::choose_all() {
  if (chosen_.size() == table_.path_count() - alone_) return;
  for (PathSlot p = 0; p < table_.path_slots(); ++p) {
    if (table_.path(p).hops > 0) chosen_.choose(p);
  }
}

void IncrementalMaxMin::check_certificate() {
  broken_.clear();
  for (const ChosenPaths::Visit& visit : chosen_.visits()) {
    const PathTable::Link& link = table_.link(visit.link);
    if (visit.chosen == link.member_count) continue;
    if (visit.is_bottleneck || link.bottleneck_of > 0) check_link(visit);
  }
  for (const PathSlot path : broken_) chosen_.choose(path);
}

// Finds the paths that have to be chosen too, given the load of the chosen ones on this link.
void IncrementalMaxMin::check_link(const ChosenPaths::Visit& visit) {
  const PathTable::Link& link = table_.link(visit.link);
  const std::span<const PathTable::Member> members = table_.members_of(link);
  double load = 0.0;
  double fastest_chosen = 0.0;
  for (const PathTable::Member& member : members) {
    const PathTable::Path& path = table_.path(member.path);
    const bool is_chosen = chosen_.contains(path);
    const double rate = is_chosen ? chosen_.rate(path.row) : path.rate;
    load += member.share * path.weight * rate;
    if (is_chosen) fastest_chosen = std::max(fastest_chosen, rate);
  }
  const bool is_full = load >= link.capacity * (1.0 - kCertificateTolerance);
  for (const PathTable::Member& member : members) {
    const PathTable::Path& path = table_.path(member.path);
    if (chosen_.contains(path)) continue;
    const bool hinders = visit.is_bottleneck && path.rate > visit.level * (1.0 + kCertificateTolerance);
    const bool has_lost_bottleneck =
        path.bottleneck == visit.link && (!is_full || fastest_chosen > path.rate * (1.0 + kCertificateTolerance));
    if (hinders || has_lost_bottleneck) broken_.push_back(member.path);
  }
}

void IncrementalMaxMin::report(FlowSlot flow) {
  PathTable::Flow& row = table_.flow(flow);
  if (row.reported_in == chosen_.solve_number()) return;
  row.reported_in = chosen_.solve_number();
  changed_.push_back(flow);
}

// They had no rate, even where their path keeps its rate: as many flows have left it since the last solve.
void IncrementalMaxMin::report_entered() {
  for (const FlowSlot flow : entered_) {
    if (table_.flow(flow).entered) report(flow);
  }
  entered_.clear();
}

double IncrementalMaxMin::largest_error() const {
  std::vector<std::uint32_t> first_hop = {0};
  std::vector<std::uint32_t> hop_link;
  std::vector<double> hop_share;
  std::vector<PathSlot> entered;
  for (PathSlot p = 0; p < table_.path_slots(); ++p) {
    const PathTable::Path& path = table_.path(p);
    if (path.hops == 0) continue;
    entered.push_back(p);
    for (const LinkShare& hop : table_.links_of(path)) {
      hop_link.push_back(hop.link);
      hop_share.push_back(hop.share * path.weight);
    }
    first_hop.push_back(static_cast<std::uint32_t>(hop_link.size()));
  }
  std::vector<double> capacity;
  for (const PathTable::Link& link : table_.links()) capacity.push_back(link.capacity);

  MaxMinSolver solver;
  MaxMinSolution fresh;
  solver.solve({.first_hop = first_hop, .hop_link = hop_link, .hop_share = hop_share, .capacity = capacity}, fresh);
  double largest = 0.0;
  for (std::size_t i = 0; i < entered.size(); ++i) {
    const double kept = table_.path(entered[i]).rate;
    const double scale = std::max(std::abs(kept), std::abs(fresh.rate[i]));
    if (scale > 0.0) largest = std::max(largest, std::abs(kept - fresh.rate[i]) / scale);
  }
  return largest;
}

}  // namespace ringwright::network_models
