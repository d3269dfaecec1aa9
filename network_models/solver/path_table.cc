#include "network_models/solver/path_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

constexpr std::uint32_t kNoLink = std::numeric_limits<std::uint32_t>::max();
// A link is tighter only if it is so by more than rounding.
constexpr double kTighter = 1.0 + 1e-6;
// Sprayed routes cross hundreds of links, none of which is on all of another's paths.
constexpr std::size_t kMostHopsCompared = 16;

// Of the links; paths that differ in shares alone are compared hop by hop.
std::uint32_t hash_of(std::span<const LinkShare> route) {
  std::uint64_t hash = route.size();
  for (const LinkShare& hop : route) {
    hash = (hash ^ hop.link) * 0x9E37'79B9'7F4A'7C15U;
    hash ^= hash >> 32U;
  }
  return static_cast<std::uint32_t>(hash);
}

}  // namespace

PathTable::PathTable(std::span<const Bandwidth> capacities) {
  links_.resize(capacities.size());
  tighter_.resize(capacities.size(), kNoLink);
  for (std::size_t l = 0; l < links_.size(); ++l) links_[l].capacity = capacities[l].count();
}

void PathTable::place(FlowSlot flow, std::span<const Hop> route) {
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

void PathTable::forget(FlowSlot flow) {
  Flow& row = flows_[flow];
  if (row.hops > 0) hops_.give_back(row.first_hop, block_order(row.hops));
  row.hops = 0;
}

// Where capacities change, every link is firm from then on.
void PathTable::set_capacity(LinkId link, Bandwidth capacity) {
  if (!tighter_.empty()) {
    for (Link& each : links_) each.tightness = Tightness::kFirm;
    tighter_.clear();
  }
  Link& row = links_[link.index()];
  row.capacity = capacity.count();
  row.resized = true;
  touch(link.value);
}

void PathTable::touch(std::uint32_t link) {
  if (links_[link].touched) return;
  links_[link].touched = true;
  touched_.push_back(link);
}

void PathTable::enter(FlowSlot flow) {
  Flow& row = flows_[flow];
  DCHECK(!row.entered && row.hops > 0, "a flow enters once, on a route of one link at least");
  const std::uint32_t hash = hash_of(route(flow));
  const std::optional<PathSlot> known = find_path(route(flow), hash);
  row.path = known ? *known : make_path(flow, hash);
  row.entered = true;
  ++flow_count_;
  Path& path = paths_[row.path];
  row.place = static_cast<std::uint32_t>(path.flows.size());
  path.flows.push_back(flow);
  path.weight = static_cast<double>(path.flows.size());
  changed_.push_back(row.path);
}

void PathTable::leave(FlowSlot flow) {
  Flow& row = flows_[flow];
  DCHECK(row.entered, "a flow leaves after it has entered");
  Path& path = paths_[row.path];
  const FlowSlot last = path.flows.back();
  path.flows[row.place] = last;
  flows_[last].place = row.place;
  path.flows.pop_back();
  path.weight = static_cast<double>(path.flows.size());
  row.entered = false;
  --flow_count_;
  changed_.push_back(row.path);
}

void PathTable::remove_empty_paths() {
  for (const PathSlot path : changed_) {
    if (paths_[path].hops > 0 && paths_[path].flows.empty()) remove_path(path);
  }
}

void PathTable::take_changed_paths() {
  for (const PathSlot slot : changed_) {
    Path& path = paths_[slot];
    if (path.hops == 0 || !path.has_changed()) continue;
    touch_links(slot);
    path.flows_before = static_cast<std::uint32_t>(path.flows.size());
  }
  changed_.clear();
}

std::optional<PathSlot> PathTable::find_path(std::span<const LinkShare> route, std::uint32_t hash) const {
  const PathSlot found = known_.find(hash, [&](PathSlot slot) {
    return std::ranges::equal(links_of(paths_[slot]), route, [](const LinkShare& a, const LinkShare& b) {
      return a.link == b.link && std::abs(a.share - b.share) <= 0.0;
    });
  });
  return found == ProbedTable<std::uint32_t>::kNone ? std::nullopt : std::optional(found);
}

PathSlot PathTable::make_path(FlowSlot flow, std::uint32_t hash) {
  if (free_paths_.empty()) {
    free_paths_.push_back(path_slots());
    paths_.emplace_back();
  }
  const PathSlot slot = free_paths_.back();
  free_paths_.pop_back();
  Path& path = paths_[slot];
  path.rate = 0.0;
  path.bottleneck = kNoBottleneck;
  path.chosen_in = 0;
  path.flows_before = 0;
  path.hops = flows_[flow].hops;
  path.first_hop = path_hops_.take(block_order(path.hops));
  std::copy_n(hops_.at(flows_[flow].first_hop), path.hops, path_hops_.at(path.first_hop));
  for (std::uint32_t h = path.first_hop; h < path.first_hop + path.hops; ++h) add_member(path_hops_[h], slot, h);
  known_.add(hash, slot);
  find_loose(path);
  return slot;
}

// What a further path leaves loose of its links.
void PathTable::find_loose(const Path& path) {
  const std::span<const LinkShare> hops = links_of(path);
  for (std::size_t h = 0; h < hops.size(); ++h) {
    Link& link = links_[hops[h].link];
    if (link.tightness == Tightness::kFirm) continue;
    std::uint32_t& tighter = tighter_[hops[h].link];
    if (hops.size() > kMostHopsCompared) {
      tighter = kNoLink;
    } else if (link.tightness == Tightness::kUnknown) {
      tighter = nearest_tighter(hops, h);
    } else if (std::ranges::none_of(
                   hops, [&](const LinkShare& hop) { return hop.link == tighter && is_tighter(hop, hops[h]); })) {
      tighter = kNoLink;
    }
    link.tightness = tighter == kNoLink ? Tightness::kFirm : Tightness::kLoose;
  }
}

bool PathTable::is_tighter(const LinkShare& hop, const LinkShare& than) const {
  return hop.share * links_[than.link].capacity > kTighter * than.share * links_[hop.link].capacity;
}

// The links on either side of a NIC carry what it carries.
std::uint32_t PathTable::nearest_tighter(std::span<const LinkShare> hops, std::size_t than) const {
  for (std::size_t distance = 1; distance < hops.size(); ++distance) {
    const std::size_t after = than + distance;
    if (after < hops.size() && is_tighter(hops[after], hops[than])) return hops[after].link;
    if (distance <= than && is_tighter(hops[than - distance], hops[than])) return hops[than - distance].link;
  }
  return kNoLink;
}

void PathTable::remove_path(PathSlot slot) {
  Path& path = paths_[slot];
  known_.remove(hash_of(links_of(path)), slot);
  if (path.bottleneck != kNoBottleneck) --links_[path.bottleneck].bottleneck_of;
  for (std::uint32_t h = path.first_hop; h < path.first_hop + path.hops; ++h) remove_member(path_hops_[h]);
  path_hops_.give_back(path.first_hop, block_order(path.hops));
  path.hops = 0;
  free_paths_.push_back(slot);
}

void PathTable::touch_links(PathSlot path) {
  for (const LinkShare& hop : links_of(paths_[path])) touch(hop.link);
}

void PathTable::add_member(LinkShare& hop, PathSlot path, std::uint32_t hop_index) {
  constexpr std::uint32_t kFirstOrder = 2;  // four members: 64 bytes
  Link& link = links_[hop.link];
  if (link.members_order == 0) {
    link.members_order = kFirstOrder;
    link.members = members_.take(kFirstOrder);
  } else if (link.member_count == 1U << link.members_order) {
    const std::uint32_t larger = members_.take(link.members_order + 1U);
    std::copy_n(members_.at(link.members), link.member_count, members_.at(larger));
    members_.give_back(link.members, link.members_order);
    link.members = larger;
    ++link.members_order;
  }
  hop.place = link.member_count;
  members_[link.members + link.member_count] = {.path = path, .hop = hop_index, .share = hop.share};
  ++link.member_count;
  touch(hop.link);
}

void PathTable::remove_member(const LinkShare& hop) {
  Link& link = links_[hop.link];
  --link.member_count;
  touch(hop.link);
  if (hop.place == link.member_count) return;
  // The last member moves into the gap.
  const Member last = members_[link.members + link.member_count];
  members_[link.members + hop.place] = last;
  path_hops_[last.hop].place = hop.place;
}

}  // namespace ringwright::network_models
