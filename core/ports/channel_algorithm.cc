#include "core/ports/channel_algorithm.h"

#include <cstddef>

namespace ringwright {

int switch_partner(const GroupLayout& layout, int member, int peer) {
  if (peer != member) return peer;
  const std::vector<int>& host = layout.hosts[static_cast<std::size_t>(layout.host_of[static_cast<std::size_t>(member)])];
  if (host.size() > 1) return host.front() == member ? host.back() : host.front();
  return member == 0 ? layout.size() - 1 : 0;  // alone on its host: the switch is the network's
}

}  // namespace ringwright
