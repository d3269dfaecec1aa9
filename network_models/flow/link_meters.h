// What flows do to each link: its bytes, its busy time, and which of them has it to itself. Updated when flows start
// and end, not in between.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
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
    watch(link, now);
  }
  void leave(std::uint32_t link, TimePoint now) {
    Meter& meter = meters_[link];
    if (--meter.flows == 0) meter.busy += now - meter.busy_since;
  }
  void prefetch(std::uint32_t link) const { __builtin_prefetch(&meters_[link], 1); }
  [[nodiscard]] bool is_empty(std::uint32_t link) const { return meters_[link].flows == 0; }
  // The flow that has the link to itself (FlowBatches); kNobody: none.
  static constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();
  [[nodiscard]] std::uint32_t& owner(std::uint32_t link) { return meters_[link].owner; }
  [[nodiscard]] std::uint32_t owner(std::uint32_t link) const { return meters_[link].owner; }
  // Neither a flow has entered it nor has one it to itself.
  [[nodiscard]] bool is_free(std::uint32_t link) const {
    return meters_[link].flows == 0 && meters_[link].owner == kNobody;
  }
  // The same of all links of a path.
  template <class Path>
  [[nodiscard]] bool are_free(const Path& path) const {
    for (const auto& hop : path) {
      if (!is_free(hop.link)) return false;
    }
    return true;
  }
  // The flow has the links of its path, which are free, to itself, and uses them from `from` on.
  template <class Path>
  void own(const Path& path, std::uint32_t flow, TimePoint from) {
    for (const auto& hop : path) meters_[hop.link].owner = flow;
    if (aside_until_.empty()) return;
    for (const auto& hop : path) watch(hop.link, from);
  }
  // It has them no more, after it used them for so long for so many bytes.
  template <class Path>
  void disown(const Path& path, double bytes, Duration busy) {
    for (const auto& hop : path) {
      Meter& meter = meters_[hop.link];
      meter.owner = kNobody;
      meter.bytes += hop.share * bytes;
      meter.busy += busy;
    }
  }
  // Adds busy time of a link at a time when no flow had entered it.
  void add_busy(std::uint32_t link, Duration busy) { meters_[link].busy += busy; }
  // NetworkModel::set_aside, for models that meter all their transfers.
  [[nodiscard]] bool set_aside(std::span<const LinkId> links, TimePoint now, TimePoint until) {
    aside_until_.resize(meters_.size());
    const bool free = std::ranges::all_of(links, [&](LinkId link) {
      return meters_[link.index()].flows == 0 && now >= aside_until_[link.index()];
    });
    if (free) end_aside(links, until);
    return free;
  }
  // NetworkModel::end_aside.
  void end_aside(std::span<const LinkId> links, TimePoint until) {
    aside_until_.resize(meters_.size());
    for (const LinkId link : links) aside_until_[link.index()] = until;
  }
  [[nodiscard]] bool trespassed() const { return !trespassed_at_.empty(); }
  // NetworkModel::trespassed_on.
  [[nodiscard]] bool trespassed_on(std::span<const LinkId> links, TimePoint since) const {
    return trespassed() &&
           std::ranges::any_of(links, [&](LinkId link) { return trespassed_at_[link.index()] >= since; });
  }
  // A flow uses the link from now on.
  void watch(std::uint32_t link, TimePoint now) {
    if (aside_until_.empty() || now >= aside_until_[link]) return;
    trespassed_at_.resize(meters_.size(), TimePoint(Duration(-1)));
    trespassed_at_[link] = now;
  }
  void carry(std::uint32_t link, double bytes) { meters_[link].bytes += bytes; }

  // By link, without the bytes of flows in flight.
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
  // One row, in one cache line: all are needed together.
  struct alignas(32) Meter {
    double bytes = 0.0;
    Duration busy;
    TimePoint busy_since;
    std::uint32_t flows = 0;
    std::uint32_t owner = kNobody;
  };

  std::vector<Meter> meters_;
  std::vector<TimePoint> aside_until_;    // by link; empty while unused
  std::vector<TimePoint> trespassed_at_;  // by link: the last time, or before the clock begins; empty: never
};

}  // namespace ringwright::network_models
