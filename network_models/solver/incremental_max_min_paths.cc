// Max-min fair shares: paths, which represent all flows on one route, and the links' lists of them.
#include "network_models/solver/incremental_max_min.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace ringwright::network_models {

void IncrementalMaxMin::enter(FlowSlot flow) {
  Flow& row = flows_[flow];
  DCHECK(!row.entered && row.hops > 0, "a flow enters once, on a route of one link at least");
  const std::optional<PathSlot> known = find_path(flow);
  row.path = known ? *known : make_path(flow);
  row.entered = true;
  ++flow_count_;
  entered_.push_back(flow);
  Path& path = paths_[row.path];
  row.place = static_cast<std::uint32_t>(path.flows.size());
  path.flows.push_back(flow);
  path.weight = static_cast<double>(path.flows.size());
  if (known) touch_links(row.path);
}

void IncrementalMaxMin::leave(FlowSlot flow) {
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
  path.flows.empty() ? remove_path(row.path) : touch_links(row.path);
}

// None where one of its links is empty; else it is among the paths of the link with the fewest.
std::optional<IncrementalMaxMin::PathSlot> IncrementalMaxMin::find_path(FlowSlot flow) const {
  const std::span<const LinkShare> asked = route(flow);
  const auto members_of = [this](const LinkShare& hop) { return links_[hop.link].member_count; };
  const Link& link = links_[std::ranges::min_element(asked, {}, members_of)->link];
  for (const Member& member : std::span(members_.at(link.members), link.member_count)) {
    const Path& path = paths_[member.path];
    if (path.hops != asked.size() || path_hops_[path.first_hop + path.hops - 1].link != asked.back().link) continue;
    const bool same = std::ranges::equal(links_of(path), asked, [](const LinkShare& a, const LinkShare& b) {
      return a.link == b.link && std::abs(a.share - b.share) <= 0.0;
    });
    if (same) return member.path;
  }
  return std::nullopt;
}

IncrementalMaxMin::PathSlot IncrementalMaxMin::make_path(FlowSlot flow) {
  if (free_paths_.empty()) {
    free_paths_.push_back(static_cast<PathSlot>(paths_.size()));
    paths_.emplace_back();
  }
  const PathSlot slot = free_paths_.back();
  free_paths_.pop_back();
  ++path_count_;
  Path& path = paths_[slot];
  path.rate = 0.0;
  path.bottleneck = kNoBottleneck;
  path.chosen_in = 0;
  path.hops = flows_[flow].hops;
  path.first_hop = path_hops_.take(block_order(path.hops));
  std::copy_n(hops_.at(flows_[flow].first_hop), path.hops, path_hops_.at(path.first_hop));
  for (std::uint32_t h = path.first_hop; h < path.first_hop + path.hops; ++h) add_member(path_hops_[h], slot, h);
  return slot;
}

void IncrementalMaxMin::remove_path(PathSlot slot) {
  Path& path = paths_[slot];
  if (path.bottleneck != kNoBottleneck) --links_[path.bottleneck].bottleneck_of;
  for (std::uint32_t h = path.first_hop; h < path.first_hop + path.hops; ++h) remove_member(path_hops_[h]);
  path_hops_.give_back(path.first_hop, block_order(path.hops));
  path.hops = 0;
  --path_count_;
  free_paths_.push_back(slot);
}

void IncrementalMaxMin::touch_links(PathSlot path) {
  for (const LinkShare& hop : links_of(paths_[path])) touch(hop.link);
}

void IncrementalMaxMin::add_member(LinkShare& hop, PathSlot path, std::uint32_t hop_index) {
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

void IncrementalMaxMin::remove_member(const LinkShare& hop) {
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
