#include "network_models/flow/lone_transfers.h"

#include <algorithm>
#include <limits>

#include "core/base/random.h"

namespace ringwright::network_models {

const LoneTransfers::Route& LoneTransfers::route_of(const RouteQuery& query) {
  const std::uint64_t ends = (std::uint64_t{query.from.value} << 32U) | query.to.value;
  const std::uint64_t key =
      mix(ends, (std::uint64_t{query.label} << 8U) | static_cast<std::uint64_t>(query.route_kind));
  Route& route = routes_[key % kRoutes];
  const RouteQuery& known = route.query;
  const bool same = known.from == query.from && known.to == query.to && known.label == query.label;
  if (same && known.route_kind == query.route_kind && known.nics == query.nics) return route;
  route.query = query;
  route.latency = router_.route(query, route.hops);
  return route;
}

void LoneTransfers::start(const Transfer& transfer, TransferListener& listener) {
  if (free_rows_.empty()) {
    free_rows_.push_back(rows_.size());
    rows_.emplace_back();
  }
  const std::size_t slot = free_rows_.back();
  free_rows_.pop_back();
  Row& row = rows_[slot];
  const Route& route = route_of(query_of(transfer));
  row.latency = route.latency;
  row.route = route.hops;
  for (Hop& hop : row.route) hop.multiplicity *= transfer.copies;
  if (!transfer.pays_latency) row.latency = Duration();
  row.size = transfer.size;
  row.repeats = transfer.repeats;
  row.start = engine_.now();
  row.end = row.start + time_on(route.latency, transfer, route.hops);
  row.listener = &listener;
  row.token = transfer.token;
  row.in_flight = true;
  started_ += transfer.repeats;
  if (row.size > Bytes(0)) {
    for (const Hop& hop : row.route) meters_.enter(hop.link.value, engine_.now());
  }
  engine_.at(row.end, [this, slot] { arrive(slot); });
}

Bandwidth LoneTransfers::narrowest(const std::vector<Hop>& route) const {
  double narrowest = std::numeric_limits<double>::infinity();
  for (const Hop& hop : route) {
    narrowest = std::min(narrowest, router_.capacities()[hop.link.index()].count() / hop.share);
  }
  return Bandwidth(narrowest);
}

void LoneTransfers::arrive(std::size_t slot) {
  Row& row = rows_[slot];
  if (row.size > Bytes(0)) {
    for (const Hop& hop : row.route) {
      meters_.carry(hop.link.value, hop.share * hop.multiplicity * static_cast<double>(row.size.count()) * row.repeats);
      meters_.leave(hop.link.value, engine_.now());
    }
  }
  row.in_flight = false;
  free_rows_.push_back(slot);
  // Last: the listener may start a transfer, which may reuse this row.
  TransferListener* const listener = row.listener;
  const std::uint64_t token = row.token;
  listener->on_arrived(token);
}

double LoneTransfers::moved_bytes(const Row& row) const {
  const Duration period = (row.end - row.start) / row.repeats;
  if (period == Duration()) return 0.0;  // it arrives at this instant, and its bytes count then
  const std::int64_t done = (engine_.now() - row.start).count() / period.count();
  const Duration phase = engine_.now() - row.start - period * done;
  const double part = phase <= row.latency ? 0.0 : ratio(phase - row.latency, period - row.latency);
  return static_cast<double>(row.size.count()) * (static_cast<double>(done) + part);
}

std::optional<std::uint64_t> LoneTransfers::state_digest() const {
  std::uint64_t sum = 0;  // a sum: the row of a transfer does not matter
  for (const Row& row : rows_) {
    if (!row.in_flight) continue;
    const Duration left = row.end - engine_.now();
    sum += mix(row.listener->identity(row.token), static_cast<std::uint64_t>(left.count()));
  }
  return sum;
}

std::vector<LinkUsage> LoneTransfers::usage() const {
  std::vector<LinkUsage> usage = meters_.usage(engine_.now());
  for (const Row& row : rows_) {
    if (!row.in_flight) continue;
    const double moved = moved_bytes(row);
    for (const Hop& hop : row.route) usage[hop.link.index()].bytes += hop.share * hop.multiplicity * moved;
  }
  return usage;
}

}  // namespace ringwright::network_models
