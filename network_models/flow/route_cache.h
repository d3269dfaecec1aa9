// The paths that queries have asked for. A path depends on its query alone, and messages of a collective take few paths
// again and again: a cache by hash of the query, with two places for each.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "core/ports/router.h"
#include "network_models/solver/path_table.h"

namespace ringwright::network_models {

class RouteCache {
 public:
  // A query in three words: compared field by field it took a twentieth of a ring's time.
  struct Key {
    explicit Key(const RouteQuery& query)
        : ends((std::uint64_t{query.from.value} << 32U) | query.to.value),
          nics((word(query.nics.out) << 48U) | (word(query.nics.in) << 32U) | (word(query.nics.relay) << 16U) |
               (static_cast<std::uint64_t>(query.route_kind) << 8U) | (query.first_of_twins ? 1U : 0U)),
          label(query.label) {}
    Key() = default;
    friend bool operator==(const Key&, const Key&) = default;

    std::uint64_t ends = ~std::uint64_t{0};
    std::uint64_t nics = 0;
    std::uint64_t label = 0;

   private:
    static std::uint64_t word(std::int16_t number) { return static_cast<std::uint16_t>(number); }
  };
  static constexpr FlowSlot kNoFlow = std::numeric_limits<FlowSlot>::max();
  static constexpr std::uint64_t kNoPath = std::numeric_limits<std::uint64_t>::max();
  struct alignas(64) Route {
    Key key;
    Duration latency;
    std::uint64_t number = kNoPath;  // of the path: no other one has or had the same, and none is 0
    FlowSlot idle = kNoFlow;         // a flow that has ended over it (IdleFlows)
    bool taken = false;              // by a flow
  };

  explicit RouteCache(const Router& router) : router_(router) {}

  // Of queries without links that are down. Valid until the next call.
  [[nodiscard]] Route& find(const RouteQuery& query) {
    const Key key(query);
    if (!routes_.empty()) [[likely]] {
      const std::size_t place = place_of(query);
      if (routes_[place].key == key) [[likely]]
        return routes_[place];
      if (routes_[second(place)].key == key) return routes_[second(place)];
    }
    return find_anew(query);
  }
  [[nodiscard]] std::span<const Hop> hops(const Route& route) const { return hops_[route.number & (hops_.size() - 1)]; }
  // The route of this number, if it is still known.
  [[nodiscard]] Route* known(std::uint64_t number) {
    if (routes_.empty()) return nullptr;
    Route& route = routes_[number & (routes_.size() - 1)];
    return route.number == number ? &route : nullptr;
  }
  // Hands each idle flow over a route that is known no more to `drop`, once.
  template <class Drop>
  void take_stranded(Drop&& drop) {
    for (const FlowSlot flow : stranded_) drop(flow);
    stranded_.clear();
  }
  // The router's paths have changed.
  void clear() { resize(0); }

 private:
  static constexpr std::size_t kFirstPlaces = 256;  // a call alone has few
  static constexpr std::size_t kMostPlaces = std::size_t{1} << 16U;

  // Ranks in a row that send equally far are next to each other, as they are asked for one after another.
  [[nodiscard]] std::size_t place_of(const RouteQuery& query) const {
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 over the golden ratio (Knuth, volume 3, 6.4)
    const std::uint32_t distance = query.to.value - query.from.value;
    const std::uint64_t kind = (std::uint64_t{query.label} << 8U) | static_cast<std::uint64_t>(query.route_kind);
    const std::uint64_t spread = ((distance ^ std::rotr(kind, 32)) * kGolden) >> 40U;
    return (query.from.value + spread) & (routes_.size() - 1);
  }
  // Where a path is whose place another one has: in the other half, so that paths in a row stay so.
  [[nodiscard]] std::size_t second(std::size_t place) const { return place ^ (routes_.size() / 2); }
  Route& find_anew(const RouteQuery& query);
  void resize(std::size_t places);

  const Router& router_;
  std::vector<Route> routes_;           // a power of two
  std::vector<std::vector<Hop>> hops_;  // of these
  std::uint64_t found_ = 0;             // paths, since the beginning
  std::size_t replaced_ = 0;            // routes, since the cache got its size
  std::vector<FlowSlot> stranded_;      // idle flows of replaced routes
};

}  // namespace ringwright::network_models
