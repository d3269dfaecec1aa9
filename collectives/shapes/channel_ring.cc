// Orders of rings. NCCL finds them by search; on hosts with NVSwitch the search finds these.
#include "collectives/shapes/channel_ring.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "collectives/shapes/ring_order.h"
#include "core/base/index.h"

namespace ringwright::collectives {
int ring_kinds(const GroupLayout& layout, const CollectivePlan& plan) {
  if (!plan.paths.empty()) return std::min(plan.channels, static_cast<int>(plan.paths.front().size()));
  return layout.host_count() == 1 ? 1 : std::min(plan.channels, layout.largest_host);
}

const HostPath* path_of(const CollectivePlan& plan, int kind, int host) {
  if (plan.paths.empty()) return nullptr;
  const std::vector<HostPath>& paths = plan.paths[plan.kind_of_host.empty() ? 0 : at(plan.kind_of_host[at(host)])];
  return &paths[at(kind) % paths.size()];
}

MessageNics nics_between(const GroupLayout& layout, const CollectivePlan& plan, int kind, int from, int to) {
  const int here = layout.host_of[at(from)];
  const int there = layout.host_of[at(to)];
  if (here == there || plan.paths.empty()) return {};
  const HostPath& out = *path_of(plan, kind, here);
  const HostPath& in = *path_of(plan, kind, there);
  return {.out = static_cast<std::int16_t>(out.out),
          .in = static_cast<std::int16_t>(in.in),
          .relay = static_cast<std::int16_t>(out.relay)};
}

const HostPath* ChannelRing::path(int host) const {
  return kind_.plan == nullptr ? nullptr : path_of(*kind_.plan, kind_.number, host);
}

int ChannelRing::first_position(int host) const { return layout_.position[at(layout_.hosts[at(host)].front())]; }

int ChannelRing::entry(int host) const {
  return kind_.number * static_cast<int>(layout_.hosts[at(host)].size()) / kind_.of;
}

int ChannelRing::position_of(int member) const {
  const int host = layout_.host_of[at(member)];
  if (const HostPath* const through = path(host)) {
    const auto place = std::ranges::find(through->order, layout_.place_in_host[at(member)]);
    return first_position(host) + static_cast<int>(place - through->order.begin());
  }
  const int size = static_cast<int>(layout_.hosts[at(host)].size());
  return first_position(host) + wrap(layout_.place_in_host[at(member)] - entry(host), size);
}

int ChannelRing::member_at(int position) const {
  const int wrapped = wrap(position, layout_.size());
  const int host = layout_.host_of[at(layout_.host_order[at(wrapped)])];
  const std::vector<int>& members = layout_.hosts[at(host)];
  if (const HostPath* const through = path(host)) {
    return members[at(through->order[at(wrapped - first_position(host))])];
  }
  const int place = wrap(wrapped - first_position(host) + entry(host), static_cast<int>(members.size()));
  return members[at(place)];
}

}  // namespace ringwright::collectives
