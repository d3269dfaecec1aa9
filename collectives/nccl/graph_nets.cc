#include "collectives/nccl/graph_nets.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "core/config/xml_document.h"

namespace ringwright::collectives {
namespace {

constexpr int kRingPattern = 4;

// Those before the first GPU and behind the last.
RingNets nets_of(const XmlElement& channel) {
  RingNets nets;
  for (const XmlElement& child : channel.children) {
    const auto dev = static_cast<int>(child.integer("dev").value_or(-1));
    if (child.name == "net") (nets.first_gpu < 0 ? nets.in : nets.out) = dev;
    if (child.name != "gpu") continue;
    if (nets.first_gpu < 0) nets.first_gpu = dev;
    nets.last_gpu = dev;
    nets.highest_gpu = std::max(nets.highest_gpu, dev);
  }
  return nets;
}

Result<std::vector<RingNets>> nets_of(const Result<XmlDocument>& document) {
  if (!document) return tl::unexpected(document.error());
  std::vector<RingNets> rings;
  for (const XmlElement& graph : document->root.children) {
    if (graph.name != "graph" || graph.integer("pattern") != kRingPattern) continue;
    for (const XmlElement& channel : graph.children) {
      if (channel.name == "channel") rings.push_back(nets_of(channel));
    }
  }
  return rings;
}

}  // namespace

Result<std::vector<RingNets>> parse_ring_nets(std::string_view text, const std::string& name) {
  return nets_of(parse_xml(text, name));
}

std::string other_nets(std::span<const RingNets> rings, std::span<const int> nic_of) {
  std::string first;
  int others = 0;
  const auto check = [&](std::size_t ring, int net, int gpu, std::string_view what) {
    const bool known = gpu >= 0 && static_cast<std::size_t>(gpu) < nic_of.size();
    if (net < 0 || !known || nic_of[static_cast<std::size_t>(gpu)] == net) return;
    if (others++ > 0) return;
    first = fmt::format("channel {} {} hosts by net {}, and GPU {} uses NIC {}", ring, what, net, gpu,
                        nic_of[static_cast<std::size_t>(gpu)]);
  };
  for (std::size_t ring = 0; ring < rings.size(); ++ring) {
    check(ring, rings[ring].in, rings[ring].first_gpu, "enters");
    check(ring, rings[ring].out, rings[ring].last_gpu, "leaves");
  }
  if (others > 1) first += fmt::format("; so it is with {} more ends of rings", others - 1);
  return first;
}

}  // namespace ringwright::collectives
