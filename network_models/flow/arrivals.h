// The transfers that arrive at one instant, whose listeners are notified in the order of starting, so that the order
// does not depend on how queues store flows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
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
  // Field by field: what is built first and then copied in wide words stalls on store forwarding.
  void add(const Arrival& arrival) {
    if (count_ == arrivals_.size()) arrivals_.resize(2 * count_ + 1);
    Arrival& added = arrivals_[count_++];
    added.order = arrival.order;
    added.listener = arrival.listener;
    added.token = arrival.token;
  }
  // Each once.
  void notify() {
    const auto by_order = [](const Arrival& a, const Arrival& b) { return a.order < b.order; };
    const std::span<Arrival> all(arrivals_.data(), std::exchange(count_, 0));
    if (!std::ranges::is_sorted(all, by_order)) std::ranges::sort(all, by_order);
    for (const Arrival& arrival : all) arrival.listener->on_arrived(arrival.token);
  }

 private:
  std::vector<Arrival> arrivals_;  // the first `count_`; the others are spare
  std::size_t count_ = 0;
};

}  // namespace ringwright::network_models
