#include "network_models/host/path_builder.h"

namespace ringwright::network_models {

void PathBuilder::add_share(std::size_t since, std::uint32_t link, double share) {
  for (std::size_t i = since; i < hops_.size(); ++i) {
    if (hops_[i].link == LinkId(link)) {
      hops_[i].share += share;
      return;
    }
  }
  add(link, share);
}

}  // namespace ringwright::network_models
