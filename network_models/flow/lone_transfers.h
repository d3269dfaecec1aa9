// Transfers that do not share links: each takes its time as if it were alone, by a rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/engine/engine.h"
#include "network_models/builtin.h"
#include "network_models/flow/link_meters.h"
#include "network_models/flow/transfer_query.h"

namespace ringwright::network_models {

struct LonePath {
  Duration latency;  // of all its links; 0 where the transfer does not pay it
  Bandwidth narrowest;
};
// How long bytes take over a path, once.
using LoneTime = Duration (*)(const LonePath& path, Bytes size);

class LoneTransfers final : public NetworkModel {
 public:
  LoneTransfers(const ModelInputs& inputs, LoneTime time)
      : engine_(inputs.engine),
        router_(inputs.router),
        time_(time),
        meters_(inputs.router.capacities().size()),
        routes_(kRoutes) {}

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
  [[nodiscard]] bool trespassed_on(std::span<const LinkId> links, TimePoint since) const override {
    return meters_.trespassed_on(links, since);
  }
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
    return time_({.latency = paid, .narrowest = narrowest(hops)}, transfer.size) * transfer.repeats;
  }
  // The slowest link gives its rate to the whole transfer, of which it may carry a share.
  [[nodiscard]] Bandwidth narrowest(const std::vector<Hop>& route) const;
  [[nodiscard]] double moved_bytes(const Row& row) const;
  void arrive(std::size_t slot);

  Engine& engine_;
  const Router& router_;
  LoneTime time_;
  LinkMeters meters_;
  std::vector<Row> rows_;
  std::vector<std::size_t> free_rows_;
  std::uint64_t started_ = 0;
  std::vector<Route> routes_;
};

}  // namespace ringwright::network_models
