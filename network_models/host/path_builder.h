// Collects the hops of one route, without the section that the query's route kind excludes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/ports/router.h"

namespace ringwright::network_models {

class PathBuilder {
 public:
  PathBuilder(std::vector<Hop>& hops, RouteKind route_kind)
      : hops_(hops),
        up_wanted_(route_kind != RouteKind::kDownFromSwitch),
        down_wanted_(route_kind != RouteKind::kUpToSwitch) {
    hops_.clear();
  }

  [[nodiscard]] bool up_wanted() const { return up_wanted_; }
  [[nodiscard]] bool down_wanted() const { return down_wanted_; }
  void add(std::uint32_t link, double share = 1.0) { hops_.push_back({.link = LinkId(link), .share = share}); }
  // As add, but a link that is already present (at `since` or later) gets the shares of both.
  void add_share(std::size_t since, std::uint32_t link, double share);
  void wait(Duration latency) { latency_ += latency; }
  [[nodiscard]] std::size_t size() const { return hops_.size(); }
  [[nodiscard]] Duration latency() const { return latency_; }

 private:
  std::vector<Hop>& hops_;
  Duration latency_;
  bool up_wanted_;
  bool down_wanted_;
};

}  // namespace ringwright::network_models
