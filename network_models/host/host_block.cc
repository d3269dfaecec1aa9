#include "network_models/host/host_block.h"

namespace ringwright::network_models {

void HostBlock::within(std::uint32_t host, std::uint32_t from, std::uint32_t to, PathBuilder& builder) const {
  LocalPath path = paths_.between(from, to);
  if (!builder.down_wanted()) {
    path.count = path.apex;
    path.down = Duration();
  } else if (!builder.up_wanted()) {
    path.first += path.apex;
    path.count = static_cast<std::uint16_t>(path.count - path.apex);
    path.up = Duration();
  }
  paths_.append(path, host * link_count(), builder);
}

void HostBlock::leave(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const {
  const std::uint32_t first_link = ends.from_host * link_count();
  if (nics.relay != ends.from_gpu) paths_.append(paths_.between(ends.from_gpu, nics.relay), first_link, builder);
  paths_.append(paths_.up(nics.relay, nics.out), first_link, builder);
}

void HostBlock::enter(const HostEnds& ends, const NicEnds& nics, PathBuilder& builder) const {
  paths_.append(paths_.down(ends.to_gpu, nics.in), ends.to_host * link_count(), builder);
}

}  // namespace ringwright::network_models
