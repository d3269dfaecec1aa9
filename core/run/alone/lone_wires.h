// The network of a call that is simulated alone: notes which paths its transfers take, and when the last one arrives.
#pragma once

#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

#include "core/engine/engine.h"
#include "core/ports/network_model.h"

namespace ringwright {

class LoneWires final : public NetworkModel, public TransferListener {
 public:
  LoneWires(const Engine& engine, NetworkModel& network) : engine_(engine), network_(network) {}

  // All transfers have one listener.
  void start(const Transfer& transfer, TransferListener& listener) override;
  void on_arrived(std::uint64_t token) override;
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override { return token; }
  [[nodiscard]] std::vector<LinkUsage> usage() const override { return network_.usage(); }
  [[nodiscard]] std::vector<Counter> counters() const override { return network_.counters(); }

  // Forgets the paths so far.
  void begin_call();
  // Each once, in the order of the first transfers.
  [[nodiscard]] const std::vector<RouteQuery>& queries() const { return queries_; }
  [[nodiscard]] TimePoint last_arrival() const { return last_arrival_; }

 private:
  using Seen = std::tuple<RankId, RankId, RouteKind, MessageNics, std::uint32_t>;

  const Engine& engine_;
  NetworkModel& network_;
  TransferListener* listener_ = nullptr;
  std::vector<RouteQuery> queries_;
  std::set<Seen> seen_;
  TimePoint last_arrival_;
};

}  // namespace ringwright
