#include "configs/simulation/pair_router.h"

#include <bit>
#include <map>

#include "core/base/check.h"

namespace ringwright::configs {

PairRouter::PairRouter(const Router& router, RankId first, RankId second) {
  std::map<std::uint32_t, LinkId> number_of_link;
  for (const bool back : {false, true}) {
    for (const RouteKind route_kind : {RouteKind::kWhole, RouteKind::kPxn}) {
      Path& path =
          paths_[number_of({.from = RankId(back ? 1 : 0), .to = RankId(back ? 0 : 1), .route_kind = route_kind})];
      // Twins are as full as the first of them.
      path.latency = router.route({.from = back ? second : first,
                                   .to = back ? first : second,
                                   .route_kind = route_kind,
                                   .first_of_twins = true},
                                  path.hops);
      for (Hop& hop : path.hops) {
        const auto [link, is_new] = number_of_link.emplace(hop.link.value, LinkId(capacities_.size()));
        if (is_new) capacities_.push_back(router.capacities()[hop.link.index()]);
        hop.link = link->second;
      }
    }
  }
}

std::size_t PairRouter::number_of(const RouteQuery& query) {
  CHECK(query.route_kind == RouteKind::kWhole || query.route_kind == RouteKind::kPxn, "a message takes a whole path");
  return (query.from < query.to ? 0U : 2U) + (query.route_kind == RouteKind::kWhole ? 0U : 1U);
}

Duration PairRouter::route(const RouteQuery& query, std::vector<Hop>& hops) const {
  const Path& path = paths_[number_of(query)];
  hops = path.hops;
  return path.latency;
}

std::vector<std::uint64_t> PairRouter::signature() const {
  std::vector<std::uint64_t> signature;
  for (const Path& path : paths_) {
    signature.push_back(static_cast<std::uint64_t>(path.latency.count()));
    signature.push_back(path.hops.size());
    for (const Hop& hop : path.hops) {
      signature.push_back(hop.link.value);
      signature.push_back(std::bit_cast<std::uint64_t>(capacities_[hop.link.index()].count()));
      signature.push_back(std::bit_cast<std::uint64_t>(hop.share));
    }
  }
  return signature;
}

}  // namespace ringwright::configs
