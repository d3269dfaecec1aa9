// Alpha-beta model: time = latency of the path + size / bandwidth of its narrowest link, as if every transfer were
// alone.
//
// Hockney, "The communication challenge for MPI" (Parallel Computing 20, 1994). Links are not shared: two transfers on
// one link both get all of it, so this is a lower bound of the flow model.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/engine/engine.h"
#include "network_models/builtin.h"
#include "network_models/flow/link_meters.h"
#include "network_models/flow/transfer_query.h"

namespace ringwright::network_models {

std::unique_ptr<NetworkModel> make_alpha_beta(const ModelInputs& inputs);

namespace {

class AlphaBetaModel final : public NetworkModel {
 public:
  explicit AlphaBetaModel(const ModelInputs& inputs)
      : engine_(inputs.engine), router_(inputs.router), meters_(inputs.router.capacities().size()), routes_(kRoutes) {}

  void start(const Transfer& transfer, TransferListener& listener) override;
  [[nodiscard]] std::optional<Duration> time_alone(const Transfer& transfer) override {
    const Route& route = route_of(query_of(transfer));
    return time_on(route.latency, transfer, route.hops);
  }
  // Times never depend on other transfers in flight, but the busy time of a link does.
  [[nodiscard]] bool set_aside(std::span<const LinkId> links, TimePoint until) override {
    return meters_.set_aside(links, engine_.now(), until);
  }
  void end_aside(std::span<const LinkId> links, TimePoint until) override { meters_.end_aside(links, until); }
  [[nodiscard]] bool trespassed() const override { return meters_.trespassed(); }
  [[nodiscard]] std::optional<std::uint64_t> state_digest() const override;
  [[nodiscard]] std::vector<LinkUsage> usage() const override;
  [[nodiscard]] std::vector<Counter> counters() const override { return {{.name = "flows", .value = started_}}; }

 private:
  // Its links count as busy from its start to its end: without sharing no instant in between matters.
  struct Row {
    Bytes size;
    std::uint32_t repeats = 1;
    Duration latency;
    TimePoint start;
    TimePoint end;
    TransferListener* listener = nullptr;
    std::uint64_t token = 0;
    std::vector<Hop> route;  // keeps its memory when the row is reused
    bool in_flight = false;
  };

  // There are few different paths, requested repeatedly: a cache by hash of the query, of the last one requested.
  struct Route {
    RouteQuery query;
    Duration latency;
    std::vector<Hop> hops;
  };
  static constexpr std::size_t kRoutes = 1024;

  [[nodiscard]] const Route& route_of(const RouteQuery& query);
  [[nodiscard]] Duration time_on(Duration latency, const Transfer& transfer, const std::vector<Hop>& hops) const {
    const Duration paid = transfer.pays_latency ? latency : Duration();
    return (paid + streaming_time(transfer.size, hops)) * transfer.repeats;
  }
  [[nodiscard]] Duration streaming_time(Bytes size, const std::vector<Hop>& route) const;
  [[nodiscard]] double moved_bytes(const Row& row) const;
  void arrive(std::size_t slot);

  Engine& engine_;
  const Router& router_;
  LinkMeters meters_;
  std::vector<Row> rows_;
  std::vector<std::size_t> free_rows_;
  std::uint64_t started_ = 0;
  std::vector<Route> routes_;
};

const AlphaBetaModel::Route& AlphaBetaModel::route_of(const RouteQuery& query) {
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

void AlphaBetaModel::start(const Transfer& transfer, TransferListener& listener) {
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

Duration AlphaBetaModel::streaming_time(Bytes size, const std::vector<Hop>& route) const {
  double narrowest = std::numeric_limits<double>::infinity();
  for (const Hop& hop : route) {
    narrowest = std::min(narrowest, router_.capacities()[hop.link.index()].count() / hop.share);
  }
  return transfer_time(size, Bandwidth(narrowest));
}

void AlphaBetaModel::arrive(std::size_t slot) {
  Row& row = rows_[slot];
  if (row.size > Bytes(0)) {
    for (const Hop& hop : row.route) {
      meters_.carry(hop.link.value,
                    hop.share * hop.multiplicity * static_cast<double>(row.size.count()) * row.repeats);
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

double AlphaBetaModel::moved_bytes(const Row& row) const {
  const Duration period = (row.end - row.start) / row.repeats;
  if (period == Duration()) return 0.0;  // it arrives at this instant, and its bytes count then
  const std::int64_t done = (engine_.now() - row.start).count() / period.count();
  const Duration phase = engine_.now() - row.start - period * done;
  const double part = phase <= row.latency ? 0.0 : ratio(phase - row.latency, period - row.latency);
  return static_cast<double>(row.size.count()) * (static_cast<double>(done) + part);
}

std::optional<std::uint64_t> AlphaBetaModel::state_digest() const {
  std::uint64_t sum = 0;  // a sum: the row of a transfer does not matter
  for (const Row& row : rows_) {
    if (!row.in_flight) continue;
    const Duration left = row.end - engine_.now();
    sum += mix(row.listener->identity(row.token), static_cast<std::uint64_t>(left.count()));
  }
  return sum;
}

std::vector<LinkUsage> AlphaBetaModel::usage() const {
  std::vector<LinkUsage> usage = meters_.usage(engine_.now());
  for (const Row& row : rows_) {
    if (!row.in_flight) continue;
    const double moved = moved_bytes(row);
    for (const Hop& hop : row.route) usage[hop.link.index()].bytes += hop.share * hop.multiplicity * moved;
  }
  return usage;
}

}  // namespace

std::unique_ptr<NetworkModel> make_alpha_beta(const ModelInputs& inputs) {
  return std::make_unique<AlphaBetaModel>(inputs);
}

}  // namespace ringwright::network_models
