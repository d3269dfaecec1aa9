// The transfers that arrive at one instant, whose listeners are notified in the order of starting, so that the order
// does not depend on how queues store flows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/ports/network_model.h"

namespace ringwright::network_models {

struct Arrival {
  std::uint64_t order = 0;  // of starting
  TransferListener* listener = nullptr;
  std::uint64_t token = 0;
};

class Arrivals {
 public:
  void add(const Arrival& arrival) { arrivals_.push_back(arrival); }
  // Each once.
  void notify() {
    const auto by_order = [](const Arrival& a, const Arrival& b) { return a.order < b.order; };
    if (!std::ranges::is_sorted(arrivals_, by_order)) std::ranges::sort(arrivals_, by_order);
    for (const Arrival& arrival : arrivals_) arrival.listener->on_arrived(arrival.token);
    arrivals_.clear();
  }

 private:
  std::vector<Arrival> arrivals_;
};

}  // namespace ringwright::network_models
