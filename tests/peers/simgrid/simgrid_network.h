// SimGrid as a network model: our patterns of traffic, unchanged, on their engine, so that both are timed identically.
#pragma once

#include <cstdint>
#include <vector>

#include <simgrid/s4u.hpp>

#include "core/ports/network_model.h"
#include "core/ports/router.h"

namespace ringwright::peers {

// SimGrid's clock, with the interface of an engine.
class SimgridClock {
 public:
  [[nodiscard]] TimePoint now() const;
  template <class Action>
  void at(TimePoint when, Action action) {
    call_at(when, [action] { action(); });
  }

 private:
  static void call_at(TimePoint when, std::function<void()> action);
};

// The settings of raw max-min sharing; before the first platform is made.
void choose_raw_sharing(simgrid::s4u::Engine& engine);

// No actors: messages are started from the callback of the one that ended. Routes come from our router through a custom
// zone, so that SimGrid stores none.
class SimgridNetwork final : public NetworkModel {
 public:
  SimgridNetwork(const Router& router, std::uint32_t ranks);
  void start(const Transfer& transfer, TransferListener& listener) override;
  [[nodiscard]] std::vector<LinkUsage> usage() const override { return {}; }
  [[nodiscard]] std::vector<Counter> counters() const override { return {{.name = "flows", .value = started_}}; }

 private:
  std::vector<simgrid::s4u::Host*> hosts_;  // by rank
  std::uint64_t started_ = 0;
};

}  // namespace ringwright::peers
