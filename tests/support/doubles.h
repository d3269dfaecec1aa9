// Small stand-ins for the ports, for tests of the layers above them.
#pragma once

#include <algorithm>
#include <deque>
#include <vector>

#include "core/engine/engine.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/compute_model.h"
#include "core/ports/network_model.h"

namespace ringwright::test {

// Latency plus size over bandwidth, no sharing.
class WireNetwork final : public NetworkModel {
 public:
  WireNetwork(Engine& engine, Duration latency, Bandwidth bandwidth)
      : engine_(engine), latency_(latency), bandwidth_(bandwidth) {}
  void start(const Transfer& transfer, TransferListener& listener) override {
    const std::uint64_t token = transfer.token;
    TransferListener* target = &listener;
    const Duration latency = transfer.pays_latency ? latency_ : Duration();
    engine_.after((latency + transfer_time(transfer.size, bandwidth_)) * transfer.repeats,
                  [target, token] { target->on_arrived(token); });
  }
  // At the pace of the largest message: every wire is a message's own.
  void start_coupled(const CoupledTransfer& coupled, TransferListener& listener) override {
    Bytes largest;
    for (const CoupledMessage& message : coupled.messages) largest = std::max(largest, message.size);
    start({.from = {}, .to = {}, .size = largest, .repeats = coupled.steps, .token = coupled.token}, listener);
  }
  [[nodiscard]] std::vector<LinkUsage> usage() const override { return {}; }
  [[nodiscard]] std::vector<Counter> counters() const override { return {}; }

 private:
  Engine& engine_;
  Duration latency_;
  Bandwidth bandwidth_;
};

// FLOPs at 1 TFLOP/s: a kernel of n FLOP takes n ps.
class PlainCompute final : public ComputeModel {
 public:
  [[nodiscard]] Duration duration(const Kernel& kernel) const override {
    return Duration(static_cast<std::int64_t>(kernel.flops.count()));
  }
};

// All-gather as a ring: size - 1 steps, each passing bytes/size to the next member.
class PlainRing final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "ring"; }
  [[nodiscard]] std::string_view help() const override { return "a plain ring"; }
  [[nodiscard]] bool supports(const CollectiveCall&) const override { return true; }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return call.size() - 1; }
  void step(const CollectiveCall& call, int member, int, CollectiveStep& out) const override {
    out.clear();
    const int size = call.size();
    out.sends.push_back({.peer = (member + 1) % size, .size = call.bytes / size});
    out.awaits.push_back({.peer = (member + size - 1) % size, .send = 0});
  }
  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int) const override { return call.bytes / call.size(); }
  void contents(const CollectiveCall& call, int member, int index, int, SendContents& out) const override {
    out.pieces = {(member - index + call.size()) % call.size()};
    out.reduce = false;
  }
  [[nodiscard]] bool rotation_symmetric(const CollectiveCall&) const override { return true; }
};

// Everybody sends up to the switch, everybody waits for all, everybody reads the result.
class PlainSwitch final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "switch"; }
  [[nodiscard]] std::string_view help() const override { return "up, then down"; }
  [[nodiscard]] bool supports(const CollectiveCall&) const override { return true; }
  [[nodiscard]] int steps(const CollectiveCall&) const override { return 2; }
  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    out.sends.push_back({.peer = (member + 1) % call.size(), .size = call.bytes,
                         .route_kind = index == 0 ? RouteKind::kUpToSwitch : RouteKind::kDownFromSwitch});
    out.await_everyone = index == 0;
  }
  [[nodiscard]] int pieces(const CollectiveCall&) const override { return 1; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int) const override { return call.bytes; }
  void contents(const CollectiveCall&, int, int index, int, SendContents& out) const override {
    out.pieces = {0};
    out.reduce = index == 0;
  }
};

class AlwaysChoose final : public CollectiveChooser {
 public:
  explicit AlwaysChoose(const CollectiveAlgorithm& algorithm) : algorithm_(algorithm) {}
  [[nodiscard]] const CollectiveAlgorithm& choose(const CollectiveCall&) const override { return algorithm_; }

 private:
  const CollectiveAlgorithm& algorithm_;
};

}  // namespace ringwright::test
