#include "network_models/host/host_block.h"

#include "core/base/check.h"

namespace ringwright::network_models {
namespace {

// By kind of host.
template <class Count>
std::vector<std::uint32_t> by_kind(std::size_t kinds, const Count& count) {
  std::vector<std::uint32_t> counts;
  for (std::size_t kind = 0; kind < kinds; ++kind) counts.push_back(count(kind));
  return counts;
}

// NICs that are lost during a run are numbered over all hosts, whatever their kind.
Host with_sets_of(Host kind, const Host& all) {
  kind.nic_sets = all.nic_sets;
  return kind;
}

}  // namespace

HostBlock::HostBlock(const Host& host)
    : kind_of_host_(host.kind_of_host),
      gpus_(static_cast<std::uint32_t>(host.gpus)),
      most_nics_(static_cast<std::uint32_t>(host.most_nics())),
      nodes_(by_kind(host.kinds(), [&](std::size_t kind) { return HostGraph(host.kind(kind)).node_count(); }),
             kind_of_host_),
      links_(by_kind(host.kinds(), [&](std::size_t kind) { return HostGraph(host.kind(kind)).link_count(); }),
             kind_of_host_),
      nics_(by_kind(host.kinds(),
                    [&](std::size_t kind) { return static_cast<std::uint32_t>(host.kind(kind).nic.count); }),
            kind_of_host_) {
  kinds_.emplace_back(host);
  for (const Host& other : host.others) {
    CHECK(other.gpus == host.gpus, "all kinds of hosts have the same number of GPUs");
    kinds_.emplace_back(with_sets_of(other, host)).more_nic_latency = other.nic.latency - host.nic.latency;
  }
}

void HostBlock::append_hosts(Fabric& fabric, std::uint32_t count) const {
  CHECK(fabric.node_count() == 0, "hosts come first, so that their numbers are a formula");
  for (std::uint32_t host = 0; host < count; ++host) kind_at(host).graph.append_nodes(fabric, host);
  for (std::uint32_t host = 0; host < count; ++host) kind_at(host).graph.append_links(fabric, first_node(host));
}

void HostBlock::within(std::uint32_t host, std::uint32_t from, std::uint32_t to, PathBuilder& builder) const {
  const HostPaths& paths = kind_at(host).paths;
  LocalPath path = paths.between(from, to);
  if (!builder.down_wanted()) {
    path.count = path.apex;
    path.down = Duration();
  } else if (!builder.up_wanted()) {
    path.first += path.apex;
    path.count = static_cast<std::uint16_t>(path.count - path.apex);
    path.up = Duration();
  }
  paths.append(path, first_link(host), builder);
}

void HostBlock::leave(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const {
  const HostPaths& paths = kind_at(ends.from_host).paths;
  const std::uint32_t first = first_link(ends.from_host);
  if (nics.relay != ends.from_gpu) paths.append(paths.between(ends.from_gpu, nics.relay), first, builder);
  paths.append(paths.up(nics.relay, nics.out), first, builder);
}

void HostBlock::enter(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const {
  const HostPaths& paths = kind_at(ends.to_host).paths;
  paths.append(paths.down(ends.to_gpu, nics.in), first_link(ends.to_host), builder);
}

}  // namespace ringwright::network_models
