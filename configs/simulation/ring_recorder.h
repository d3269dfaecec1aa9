// A network model that passes everything on to another one, and records the messages of single rings that a run starts.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/engine/engine.h"
#include "core/ports/network_model.h"

namespace ringwright::configs {

class RingRecorder final : public NetworkModel {
 public:
  RingRecorder(const Engine& engine, NetworkModel& network) : engine_(engine), network_(network) {}

  // As a RingEdge, which refers to sizes of the run.
  struct Edge {
    RankId from;
    RankId to;
    MessageNics nics = {};
    std::uint32_t label = 0;
    std::vector<Bytes> sizes;
    std::uint32_t first = 0;
    std::uint32_t repeats = 0;
    TimePoint begins;
  };
  using Ring = std::vector<Edge>;
  // In the order in which they were opened.
  [[nodiscard]] const std::vector<Ring>& rings() const { return rings_; }

  void start(const Transfer& transfer, TransferListener& listener) override { network_.start(transfer, listener); }
  void start_coupled(const CoupledTransfer& coupled, TransferListener& listener) override {
    network_.start_coupled(coupled, listener);
  }
  [[nodiscard]] std::optional<std::uint32_t> open_ring(const RingShape& shape) override;
  void start_member(RingPlace place, const RingMember& member, TransferListener& listener) override;
  [[nodiscard]] std::uint32_t arrived_in(std::uint32_t ring, std::uint32_t edge) const override {
    return network_.arrived_in(ring, edge);
  }
  [[nodiscard]] std::optional<GivenUp> given_up() const override { return network_.given_up(); }
  [[nodiscard]] std::vector<LinkUsage> usage() const override { return network_.usage(); }
  [[nodiscard]] std::vector<Counter> counters() const override { return network_.counters(); }

 private:
  const Engine& engine_;
  NetworkModel& network_;
  std::vector<Ring> rings_;
  std::unordered_map<std::uint32_t, std::size_t> open_;  // by the network's number, which it may use again
};

}  // namespace ringwright::configs
