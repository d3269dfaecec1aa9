#include "network_models/flow/flow_routes.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace ringwright::network_models {
namespace {

// Bytes on a link are whole unless paths are sprayed; dividing those of a class by its links leaves some dust.
double as_whole(double bytes) {
  constexpr double kDust = 1e-12;
  const double whole = std::round(bytes);
  return std::abs(bytes - whole) <= kDust * whole ? whole : bytes;
}

}  // namespace

void FlowRoutes::take_hops(const RouteCache::Route& route, std::uint32_t copies) {
  path_ = cache_.hops(route);
  if (copies == 1) return;
  hops_.assign(path_.begin(), path_.end());
  for (Hop& hop : hops_) hop.multiplicity *= copies;
  path_ = hops_;
}

FlowRoutes::CoupledPath FlowRoutes::find(const CoupledTransfer& coupled, FlowSlot flow) {
  if (flow >= coupled_of_.size()) coupled_of_.resize(flow + 1);
  coupled_of_[flow] = coupled;
  const auto known = known_.find(coupled.messages.data());
  if (known != known_.end()) return take(known->second, coupled.steps);
  Known fresh = join(coupled.messages);
  const CoupledPath path = take(fresh, coupled.steps);
  if (known_.empty()) kept_hops_ = 0;
  if (kept_hops_ + fresh.hops.size() <= kKeptHops) {
    kept_hops_ += fresh.hops.size();
    known_.emplace(coupled.messages.data(), std::move(fresh));
  }
  return path;
}

FlowRoutes::CoupledPath FlowRoutes::take(const Known& known, std::uint32_t steps) {
  hops_.assign(known.hops.begin(), known.hops.end());
  path_ = hops_;
  return {.latency = known.latency * steps,
          .bytes = static_cast<double>(known.largest.count()) * steps,
          .longest = known.longest};
}

Duration FlowRoutes::find_again(FlowSlot flow, const RouteQuery& query, std::uint32_t copies) {
  const bool is_coupled = flow < coupled_of_.size() && !coupled_of_[flow].messages.empty();
  if (!is_coupled) return find(query, copies);
  return find(CoupledTransfer(coupled_of_[flow]), flow).latency;
}

FlowRoutes::Known FlowRoutes::join(std::span<const CoupledMessage> messages) {
  Known known{.longest = messages.front().query};
  if (place_of_.empty()) place_of_.assign(router_.capacities().size(), kNowhere);
  for (const CoupledMessage& message : messages) add(message, known);
  for (Hop& hop : known.hops) {
    place_of_[hop.link.index()] = kNowhere;
    hop.share = as_whole(hop.share) / static_cast<double>(known.largest.count());
  }
  return known;
}

// Shares count bytes until all messages are added.
void FlowRoutes::add(const CoupledMessage& message, Known& known) {
  const Duration latency = router_.route(message.query, hops_of_message_);
  if (latency > known.latency) known.longest = message.query;
  known.latency = std::max(known.latency, latency);
  known.largest = std::max(known.largest, message.size);
  if (message.size <= Bytes(0)) return;
  const auto bytes = static_cast<double>(message.size.count());
  for (const Hop& hop : hops_of_message_) {
    std::uint32_t& place = place_of_[hop.link.index()];
    if (place == kNowhere) {
      place = static_cast<std::uint32_t>(known.hops.size());
      known.hops.push_back({.link = hop.link, .share = 0.0});
    }
    known.hops[place].share += bytes * hop.share * hop.multiplicity / message.among;
  }
}

}  // namespace ringwright::network_models
