// What each link has carried and how long it was busy, kept up when flows come and go and not in between.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "core/ports/network_model.h"

namespace ringwright::network_models {

class LinkMeters {
 public:
  explicit LinkMeters(std::size_t links) : meters_(links) {}

  void enter(std::uint32_t link, TimePoint now) {
    Meter& meter = meters_[link];
    if (meter.flows++ == 0) meter.busy_since = now;
  }
  void leave(std::uint32_t link, TimePoint now) {
    Meter& meter = meters_[link];
    if (--meter.flows == 0) meter.busy += now - meter.busy_since;
  }
  // The link was busy for so long, at a time when nothing had entered it.
  void add_busy(std::uint32_t link, Duration busy) { meters_[link].busy += busy; }
  void carry(std::uint32_t link, double bytes) { meters_[link].bytes += bytes; }

  // By link, without the bytes of flows that are on their way.
  [[nodiscard]] std::vector<LinkUsage> usage(TimePoint now) const {
    std::vector<LinkUsage> usage;
    usage.reserve(meters_.size());
    for (const Meter& meter : meters_) {
      const Duration open = meter.flows > 0 ? now - meter.busy_since : Duration(0);
      usage.push_back({.bytes = meter.bytes, .busy = meter.busy + open});
    }
    return usage;
  }

 private:
  // One row, in one cache line: the four are always needed together.
  struct alignas(32) Meter {
    double bytes = 0.0;
    Duration busy;
    TimePoint busy_since;
    std::uint32_t flows = 0;
  };

  std::vector<Meter> meters_;
};

}  // namespace ringwright::network_models
