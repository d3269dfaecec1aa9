#include "network_models/solver/local_fill.h"

#include <algorithm>

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

// Levels that differ by less are one: paths that are equal but for the order of sums stay equal.
constexpr double kSameLevel = 1e-13;
// As in max_min_solver.cc: a remainder this small compared with a subtracted share is summed again.
constexpr double kLostDigits = 1e-3;
// How many paths ahead rows are prefetched.
constexpr std::size_t kPathsAhead = 4;

}  // namespace

void LocalFill::begin(std::uint32_t solve_number) {
  solve_number_ = solve_number;
  rows_.clear();
  gathered_ = 0;
  crossings_.clear();
  visits_.clear();
  frozen_ = 0;
  front_ = 0.0;
}

void LocalFill::fill() {
  gather();
  while (!queue_.empty()) {
    const std::uint32_t visit = queue_.first();
    const double level = next_level(visits_[visit]);
    if (level <= queue_.lowest()) {
      queue_.remove_first();
      reach(visit);
    } else if (level < kInfinite) {
      queue_.raise_first(level);  // it has risen meanwhile
    } else {
      queue_.remove_first();
    }
  }
  CHECK(frozen_ == rows_.size(), "every chosen path must freeze");
}

std::uint32_t LocalFill::visit_of(std::uint32_t link) {
  PathTable::Link& row = table_.link(link);
  if (row.visited_in == solve_number_) return row.visit;
  row.visited_in = solve_number_;
  row.visit = static_cast<std::uint32_t>(visits_.size());
  visits_.push_back({.link = link, .remaining = row.capacity});
  add_up_fixed(visits_.back());
  return row.visit;
}

void LocalFill::add_up_fixed(Visit& visit) const {
  double load = 0.0;
  for (const PathTable::Member& member : table_.members_of(table_.link(visit.link))) {
    const PathTable::Path& path = table_.path(member.path);
    if (contains(path)) continue;
    load += member.share * path.weight * path.rate;
    visit.fastest_fixed = std::max(visit.fastest_fixed, path.rate);
    if (path.bottleneck != visit.link) continue;
    ++visit.held;
    visit.held_rate = std::min(visit.held_rate, path.rate);
  }
  visit.remaining -= load;
}

// Continues where it stopped. Loose links bound nothing.
void LocalFill::gather() {
  const std::size_t first = crossings_.size();
  const std::size_t known = visits_.size();
  for (; gathered_ < rows_.size(); ++gathered_) {
    if (gathered_ + 2 * kPathsAhead < rows_.size()) table_.prefetch_path(rows_[gathered_ + 2 * kPathsAhead].path);
    if (gathered_ + kPathsAhead < rows_.size()) table_.prefetch_links(rows_[gathered_ + kPathsAhead].path);
    Row& row = rows_[gathered_];
    row.first = static_cast<std::uint32_t>(crossings_.size());
    const PathTable::Path& path = table_.path(row.path);
    for (const LinkShare& hop : table_.links_of(path)) {
      if (table_.link(hop.link).is_loose()) continue;
      const std::uint32_t v = visit_of(hop.link);
      Visit& visit = visits_[v];
      const double share = hop.share * path.weight;
      if (v < known) visit.remaining += share * path.rate;  // among the fixed ones so far
      visit.rising_share += share;
      ++visit.rising;
      crossings_.push_back(
          {.visit = v, .row = static_cast<std::uint32_t>(gathered_), .next = visit.crossings, .share = share});
      visit.crossings = static_cast<std::uint32_t>(crossings_.size() - 1);
    }
  }
  for (std::size_t c = first; c < crossings_.size(); ++c) {
    Visit& visit = visits_[crossings_[c].visit];
    if (visit.crossings != c) continue;
    // What they had leaves no rounding remainder: nothing crosses a link that is down.
    const PathTable::Link& link = table_.link(visit.link);
    if (visit.rising == link.member_count) visit.remaining = link.capacity;
    queue(crossings_[c].visit);
  }
}

double LocalFill::level(Visit& visit) const {
  if (visit.rising == 0) return kInfinite;
  if (visit.cancels) add_up_shares(visit);
  return std::max(visit.remaining, 0.0) / visit.rising_share;
}

void LocalFill::add_up_shares(Visit& visit) const {
  visit.cancels = false;
  visit.rising_share = 0.0;
  for (std::uint32_t c = visit.crossings; c != kNone; c = crossings_[c].next) {
    if (rows_[crossings_[c].row].bottleneck == kNone) visit.rising_share += crossings_[c].share;
  }
}

// The level at which it has to be looked at.
double LocalFill::next_level(Visit& visit) const {
  return std::min(level(visit), visit.held > 0 ? visit.held_rate : kInfinite);
}

void LocalFill::reach(std::uint32_t index) {
  Visit& visit = visits_[index];
  const double own = level(visit);
  if (visit.held > 0 && visit.held_rate < own) {
    const bool stay = is_held(visit, own);
    visit.held = 0;
    if (!stay) release_held(visit.link);
    return queue(index);  // it may have lost the held ones by other links, so that none was left to choose
  }
  if (!release_faster(visit, own)) freeze(index, own);
}

bool LocalFill::is_held(const Visit& visit, double level) const {
  if (visit.rising > 0) return level <= visit.held_rate * (1.0 + kCertificateTolerance);
  return visit.remaining <= table_.link(visit.link).capacity * kCertificateTolerance;
}

void LocalFill::release_held(std::uint32_t link) {
  for (const PathTable::Member& member : table_.members_of(table_.link(link))) {
    if (table_.path(member.path).bottleneck == link) choose(member.path);
  }
  gather();
}

// False: there are none.
bool LocalFill::release_faster(Visit& visit, double level) {
  const double limit = level * (1.0 + kCertificateTolerance);
  if (visit.fastest_fixed <= limit) return false;
  const std::size_t before = rows_.size();
  visit.fastest_fixed = limit;
  visit.held = 0;  // those that stay have this rate
  for (const PathTable::Member& member : table_.members_of(table_.link(visit.link))) {
    if (table_.path(member.path).rate > limit) choose(member.path);
  }
  gather();
  return rows_.size() > before;
}

void LocalFill::freeze(std::uint32_t index, double level) {
  const bool is_same = level <= front_ * (1.0 + kSameLevel) && level >= front_ * (1.0 - kSameLevel);
  if (!is_same) front_ = level;
  for (std::uint32_t c = visits_[index].crossings; c != kNone; c = crossings_[c].next) {
    if (rows_[crossings_[c].row].bottleneck == kNone) freeze_row(crossings_[c].row, index);
  }
}

void LocalFill::freeze_row(std::uint32_t number, std::uint32_t bottleneck) {
  ++frozen_;
  Row& row = rows_[number];
  row.rate = front_;
  row.bottleneck = bottleneck;
  const std::size_t end = number + 1 < rows_.size() ? rows_[number + 1].first : crossings_.size();
  for (std::size_t c = row.first; c < end; ++c) {
    const Crossing& crossing = crossings_[c];
    Visit& visit = visits_[crossing.visit];
    visit.remaining -= crossing.share * row.rate;
    visit.rising_share -= crossing.share;
    --visit.rising;
    if (visit.rising_share < kLostDigits * crossing.share) visit.cancels = true;
  }
}

}  // namespace ringwright::network_models
