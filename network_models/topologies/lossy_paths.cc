#include "network_models/topologies/lossy_paths.h"

#include <algorithm>
#include <cmath>

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

bool is_of_network(NodeKind kind) {
  return is_switch(kind) && kind != NodeKind::kNvSwitch && kind != NodeKind::kPcieSwitch;
}

}  // namespace

double transmissions(const PacketStream& stream) {
  CHECK(stream.loss >= 0.0 && stream.loss < 1.0 && stream.in_flight >= 1.0, "some packets arrive");
  const double after = stream.retransmission == Retransmission::kGoBackN ? stream.in_flight - 1.0 : 0.0;
  return (1.0 + after * stream.loss) / (1.0 - stream.loss);
}

LossyPaths::LossyPaths(const Fabric& fabric, const Host& host)
    : capacities_(fabric.capacities().begin(), fabric.capacities().end()) {
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const LinkSpec& link = fabric.link(LinkId(i));
    is_network_.push_back(is_of_network(fabric.node(link.from).kind) || is_of_network(fabric.node(link.to).kind));
  }
  for (const NodeId gpu : fabric.gpus()) {
    const Host::Nic& nic = host.kind_at(std::max(fabric.node(gpu).first, 0)).nic;
    nic_of_.push_back({.mtu = nic.mtu, .retransmission = nic.retransmission});
  }
}

void LossyPaths::add_retransmissions(const LinkLosses& losses, const Sent& sent, std::vector<Hop>& hops) const {
  if (losses.empty()) return;
  double arrives = 1.0;
  double rate = HUGE_VAL;
  for (const Hop& hop : hops) {
    if (!is_network_[hop.link.index()]) continue;
    rate = std::min(rate, capacities_[hop.link.index()].count() / hop.share);
    const auto loss = losses.find(hop.link);
    if (loss != losses.end()) arrives *= 1.0 - std::min(hop.share, 1.0) * loss->second;
  }
  if (arrives >= 1.0) return;
  const Nic& nic = nic_of_[sent.from.index()];
  const double round_trip = 2.0 * to_seconds(sent.latency);
  const double times = transmissions({.loss = 1.0 - arrives,
                                      .in_flight = 1.0 + round_trip * rate / static_cast<double>(nic.mtu.count()),
                                      .retransmission = nic.retransmission});
  for (Hop& hop : hops) {
    if (is_network_[hop.link.index()]) hop.share *= times;
  }
}

}  // namespace ringwright::network_models
