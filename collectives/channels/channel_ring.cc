// Orders of rings. NCCL finds them by search; on hosts whose GPUs meet in NVLink switches the search ends with these.
#include "collectives/channels/channel_ring.h"

#include <algorithm>
#include <cstddef>

#include "collectives/ring_order.h"

namespace ringwright::collectives {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

}  // namespace

int ring_kinds(const GroupLayout& layout, const CollectivePlan& plan) {
  if (!plan.circles.empty()) return std::min(plan.channels, static_cast<int>(plan.circles.size()));
  return layout.host_count() == 1 ? 1 : std::min(plan.channels, layout.largest_host);
}

const std::vector<int>* circle_of(const CollectivePlan& plan, int kind) {
  return plan.circles.empty() ? nullptr : &plan.circles[at(kind) % plan.circles.size()];
}

int ChannelRing::first_position(int host) const { return layout_.position[at(layout_.hosts[at(host)].front())]; }

int ChannelRing::entry(int host) const {
  return kind_.number * static_cast<int>(layout_.hosts[at(host)].size()) / kind_.of;
}

int ChannelRing::position_of(int member) const {
  const int host = layout_.host_of[at(member)];
  if (kind_.circle != nullptr) {
    const auto way = std::ranges::find(*kind_.circle, layout_.place_in_host[at(member)]);
    return first_position(host) + static_cast<int>(way - kind_.circle->begin());
  }
  const int size = static_cast<int>(layout_.hosts[at(host)].size());
  return first_position(host) + wrap(layout_.place_in_host[at(member)] - entry(host), size);
}

int ChannelRing::member_at(int position) const {
  const int wrapped = wrap(position, layout_.size());
  const int host = layout_.host_of[at(layout_.host_order[at(wrapped)])];
  const std::vector<int>& members = layout_.hosts[at(host)];
  if (kind_.circle != nullptr) return members[at((*kind_.circle)[at(wrapped - first_position(host))])];
  const int place = wrap(wrapped - first_position(host) + entry(host), static_cast<int>(members.size()));
  return members[at(place)];
}

}  // namespace ringwright::collectives
