#include "network_models/congestion/port_queues.h"

#include <algorithm>

namespace ringwright::network_models {
namespace {

constexpr double kDefaultSpeed = 5e9;  // 40 Gbit/s, the speed of the published settings
constexpr double kDefaultKmin = 5e3;
constexpr double kDefaultKmax = 200e3;
constexpr double kDefaultXoff = 200e3;
// A port that is paused for so long goes on: switches end what looks like a deadlock of pauses (PFC watchdog of SONiC).
constexpr Duration kWatchdog{200'000'000'000};

double bytes_or(const std::optional<Bytes>& given, double usual, double capacity) {
  return given ? static_cast<double>(given->count()) : usual * capacity / kDefaultSpeed;
}

}  // namespace

PortQueues::PortNumber PortQueues::open(std::uint32_t link, std::uint32_t after) {
  if (port_of_[link] == kNone) {
    port_of_[link] = static_cast<PortNumber>(ports_.size());
    Port& port = ports_.emplace_back();
    port.link = link;
    port.after = after;
    port.capacity = capacities_[link].count();
    port.xoff = bytes_or(buffers_.xoff, kDefaultXoff, port.capacity);
    port.xon = buffers_.xon ? static_cast<double>(buffers_.xon->count()) : port.xoff / 2.0;
    order_.push_back(port_of_[link]);
    sorted_ = false;
  }
  Port& port = ports_[port_of_[link]];
  if (after > port.after) {
    port.after = after;
    sorted_ = false;
  }
  return port_of_[link];
}

std::span<const PortQueues::PortNumber> PortQueues::in_order() {
  if (!sorted_) {
    std::ranges::sort(order_, [this](PortNumber a, PortNumber b) {
      return ports_[a].after != ports_[b].after ? ports_[a].after > ports_[b].after : ports_[a].link < ports_[b].link;
    });
    sorted_ = true;
  }
  return order_;
}

void PortQueues::enqueue(Port& port) {
  if (port.arriving.empty()) return;
  Batch batch;
  for (const Parcel& parcel : port.arriving) {
    port.parcels.push_back(parcel);
    batch.left += parcel.bytes * parcel.weight;
  }
  batch.parcels = static_cast<std::uint32_t>(port.arriving.size());
  port.arriving.clear();
  port.backlog += batch.left;
  port.batches.push_back(batch);
}

double PortQueues::marked(PortNumber number) const {
  const Port& port = ports_[number];
  if (port.backlog <= 0.0) return 0.0;
  const double kmin = bytes_or(buffers_.kmin, kDefaultKmin, port.capacity);
  const double kmax = bytes_or(buffers_.kmax, kDefaultKmax, port.capacity);
  if (port.backlog <= kmin) return 0.0;
  return port.backlog > kmax ? 1.0 : buffers_.pmax * (port.backlog - kmin) / (kmax - kmin);
}

void PortQueues::update_pauses(TimePoint now) {
  for (Port& port : ports_) {
    const double links = kinds_.empty() ? 1.0 : kinds_[port.link].stands_for;
    counts_.largest = std::max(counts_.largest, port.backlog);
    if (!buffers_.pauses) continue;
    if (port.paused && (port.buffered <= port.xon || now - port.paused_since >= kWatchdog)) {
      if (port.buffered > port.xon) ++counts_.watchdogs;
      resume(port, now);
    } else if (!port.paused && port.buffered > port.xoff) {
      port.paused = true;
      port.paused_since = now;
      counts_.pauses += links;
    }
  }
}

void PortQueues::resume(Port& port, TimePoint now) {
  port.paused = false;
  counts_.paused += (now - port.paused_since) * (kinds_.empty() ? 1 : kinds_[port.link].stands_for);
}

bool PortQueues::empty() const {
  return std::ranges::all_of(ports_, [](const Port& port) {
    return port.backlog <= 0.0 && !port.paused && port.arriving.empty();
  });
}

}  // namespace ringwright::network_models
