// The network of a call that is simulated alone: notes which paths its transfers take, and when the last one arrives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_set>
#include <vector>

#include "core/engine/engine.h"
#include "core/ports/network_model.h"

namespace ringwright {

class LoneWires final : public NetworkModel, public TransferListener {
 public:
  LoneWires(const Engine& engine, NetworkModel& network) : engine_(engine), network_(network), recent_(kFirstRecent) {}

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
  struct Wire {
    RankId from;
    RankId to;
    RouteKind route_kind;
    MessageNics nics;
    std::uint32_t label;

    friend bool operator==(const Wire&, const Wire&) = default;
  };
  struct HashOfWire {
    std::size_t operator()(const Wire& wire) const;
  };

  // Most transfers take a path that was taken before, and a look at one place finds it.
  struct Recent {
    Wire wire;
    std::uint32_t call = 0;  // that took it; 0: none
  };
  static constexpr std::size_t kFirstRecent = 64;  // most calls have few paths
  static constexpr std::size_t kMostRecent = std::size_t{1} << 16U;

  void note(const Wire& wire);

  const Engine& engine_;
  NetworkModel& network_;
  TransferListener* listener_ = nullptr;
  std::vector<RouteQuery> queries_;
  std::unordered_set<Wire, HashOfWire> seen_;
  std::vector<Recent> recent_;  // a power of two, by hash: the last path that was seen
  std::uint32_t call_ = 1;      // number of the current one
  TimePoint last_arrival_;
};

}  // namespace ringwright
