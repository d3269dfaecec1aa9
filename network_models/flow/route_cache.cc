#include "network_models/flow/route_cache.h"

#include "core/base/check.h"

namespace ringwright::network_models {

RouteCache::Route& RouteCache::find_anew(const RouteQuery& query) {
  CHECK(query.down == nullptr, "a path around links that are down does not depend on its query alone");
  if (routes_.empty()) resize(kFirstPlaces);
  if (replaced_ > routes_.size() && routes_.size() < kMostPlaces) resize(4 * routes_.size());
  std::size_t place = place_of(query);
  // The older one of the two makes room; a free place has no number yet.
  const auto age = [this](std::size_t at) { return routes_[at].number + 1; };
  if (age(second(place)) < age(place)) place = second(place);
  Route& route = routes_[place];
  if (route.number != kNoPath) ++replaced_;
  if (route.idle != kNoFlow) stranded_.push_back(route.idle);
  route.key = Key(query);
  route.latency = router_.route(query, hops_[place]);
  route.number = ++found_ * kMostPlaces + place;
  route.idle = kNoFlow;
  route.taken = false;
  return route;
}

void RouteCache::resize(std::size_t places) {
  for (const Route& route : routes_) {
    if (route.idle != kNoFlow) stranded_.push_back(route.idle);
  }
  routes_.assign(places, {});
  hops_.assign(places, {});
  replaced_ = 0;
}

}  // namespace ringwright::network_models
