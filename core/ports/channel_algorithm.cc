#include "core/ports/channel_algorithm.h"

#include <cstddef>
#include <numeric>

namespace ringwright {

int switch_partner(const GroupLayout& layout, int member, int peer) {
  if (peer != member) return peer;
  const std::vector<int>& host =
      layout.hosts[static_cast<std::size_t>(layout.host_of[static_cast<std::size_t>(member)])];
  // The next one, so that no member is distinguished by it.
  const auto next = static_cast<std::size_t>(layout.place_in_host[static_cast<std::size_t>(member)]) + 1;
  if (host.size() > 1) return host[next % host.size()];
  return (member + 1) % layout.size();  // alone on its host: the switch is the network's
}

RouteKind message_route_kind(const GroupLayout& layout, const CollectivePlan& plan, int from, int to) {
  const auto at = [](int index) { return static_cast<std::size_t>(index); };
  const int host = layout.host_of[at(from)];
  if (!plan.pxn || host == layout.host_of[at(to)] || layout.gpu_of[at(from)] == layout.gpu_of[at(to)]) {
    return RouteKind::kWhole;
  }
  for (const int member : layout.hosts[at(host)]) {
    if (layout.gpu_of[at(member)] == layout.gpu_of[at(to)]) return RouteKind::kPxn;
  }
  return RouteKind::kWhole;
}

void ChannelAlgorithm::parts(const CollectiveCall& call, const CollectivePlan& plan, int /*member*/,
                             std::vector<int>& out) const {
  out.resize(static_cast<std::size_t>(blocks(call, plan)));
  std::iota(out.begin(), out.end(), 0);
}

}  // namespace ringwright
