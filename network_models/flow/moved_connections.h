// What connections that move off a failed NIC send again: the chunk that was not acknowledged (R2CCL, arXiv 2512.25059:
// the DMA buffer is rolled back to the last chunk that was).
#pragma once

#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "core/ports/router.h"
#include "network_models/builtin.h"
#include "network_models/solver/path_table.h"

namespace ringwright::network_models {

class MovedConnections {
 public:
  explicit MovedConnections(const ModelOptions& options)
      : chunk_(static_cast<double>(options.unacknowledged.count())),
        cables_(options.cables_with_failover),
        down_(cables_.size(), false) {}

  // Paths have changed; true once.
  void note() { due_ = true; }
  [[nodiscard]] bool take() { return std::exchange(due_, false); }

  void set_capacity(LinkId link, Bandwidth capacity) {
    if (link.index() < cables_.size() && cables_[link.index()]) down_[link.index()] = !(capacity > Bandwidth(0.0));
  }
  // Of bytes that a flow has moved over a route that it leaves, those that it need not send again.
  [[nodiscard]] double kept(std::span<const LinkShare> route, double moved) const {
    if (!(chunk_ > 0.0) || down_.empty()) return moved;
    for (const LinkShare& hop : route) {
      if (down_[hop.link]) return std::floor(moved / chunk_) * chunk_;
    }
    return moved;
  }

 private:
  bool due_ = false;
  double chunk_;
  std::vector<bool> cables_;  // by link; empty: none
  std::vector<bool> down_;
};

}  // namespace ringwright::network_models
