// Port queues: what waits at the ports of switches, which packets they mark, and which ports full buffers pause.
//
// A port serves first in, first out: what arrives within one time step is served together, in equal parts, and before
// what arrives later. It marks a packet with probability 0 below kmin, rising to pmax at kmax, and 1 above (RED with
// the instantaneous queue). Bytes that wait at a switch count for the port over which they entered; when more than xoff
// have entered over one port, that port is paused until xon is reached (priority flow control, IEEE 802.1Qbb), and with
// it everything that it sends. Buffers are unlimited: nothing is dropped.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "network_models/congestion/congestion_settings.h"
#include "network_models/congestion/link_kinds.h"

namespace ringwright::network_models {

// Bytes of a flow that wait for one hop of its path.
struct Parcel {
  std::uint32_t flow = 0;
  std::uint32_t hop = 0;
  double bytes = 0.0;   // of the flow
  double weight = 1.0;  // bytes on the link for each of them
};

class PortQueues {
 public:
  using PortNumber = std::uint32_t;

  PortQueues(std::span<const Bandwidth> capacities, std::span<const LinkKind> kinds, const SwitchBuffers& buffers)
      : capacities_(capacities), kinds_(kinds), buffers_(buffers), port_of_(capacities.size(), kNone) {}

  // The port that sends on the link, `after` ports before the end of a path that crosses it. Ports are served in the
  // order of paths.
  PortNumber open(std::uint32_t link, std::uint32_t after);
  [[nodiscard]] std::span<const PortNumber> in_order();

  // A parcel of the next batch; its bytes are set before the port is served.
  void arrive(PortNumber port, const Parcel& parcel) { ports_[port].arriving.push_back(parcel); }
  [[nodiscard]] std::span<Parcel> arriving(PortNumber port) { return ports_[port].arriving; }
  // Serves the port for some seconds: hands the parts of parcels that leave to `leave`, which says whether a parcel is
  // gone.
  template <class Leave>
  void serve(PortNumber port, double seconds, Leave&& leave);
  // Bytes that entered over the port wait at the switch behind it (more, or less).
  void buffer(PortNumber port, double bytes) { ports_[port].buffered += bytes; }
  // Pauses and resumes ports by what their buffers hold.
  void update_pauses(TimePoint now);

  [[nodiscard]] bool paused(PortNumber port) const { return ports_[port].paused; }
  [[nodiscard]] double marked(PortNumber port) const;
  [[nodiscard]] double queue(std::uint32_t link) const {
    return port_of_[link] == kNone ? 0.0 : ports_[port_of_[link]].backlog;
  }
  [[nodiscard]] double capacity(PortNumber port) const { return ports_[port].capacity; }
  [[nodiscard]] std::uint32_t link(PortNumber port) const { return ports_[port].link; }
  [[nodiscard]] std::size_t size() const { return ports_.size(); }
  // Nothing waits, and no port is paused.
  [[nodiscard]] bool empty() const;

  struct Counts {
    double largest = 0.0;  // queue, bytes
    double pauses = 0.0;
    Duration paused;  // of all ports together
    std::uint64_t watchdogs = 0;
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // What arrived in one step: the next parcels of the queue.
  struct Batch {
    std::uint32_t parcels = 0;
    double left = 0.0;  // bytes on the link
  };
  struct Port {
    std::uint32_t link = 0;
    std::uint32_t after = 0;
    double capacity = 0.0;
    double backlog = 0.0;
    double buffered = 0.0;
    double xoff = 0.0;
    double xon = 0.0;
    bool paused = false;
    TimePoint paused_since;
    std::vector<Parcel> arriving;
    std::deque<Parcel> parcels;
    std::deque<Batch> batches;
  };

  void enqueue(Port& port);
  void resume(Port& port, TimePoint now);

  std::span<const Bandwidth> capacities_;
  std::span<const LinkKind> kinds_;
  SwitchBuffers buffers_;
  std::vector<PortNumber> port_of_;  // by link
  std::vector<Port> ports_;
  std::vector<PortNumber> order_;
  bool sorted_ = true;
  Counts counts_;
};

template <class Leave>
void PortQueues::serve(PortNumber number, double seconds, Leave&& leave) {
  Port& port = ports_[number];
  enqueue(port);
  double budget = port.paused ? 0.0 : port.capacity * seconds;
  while (budget > 0.0 && !port.batches.empty()) {
    Batch& batch = port.batches.front();
    constexpr double kDust = 1e-9;  // what rounding leaves of a batch is no batch of its own
    const bool whole = batch.left * (1.0 - kDust) <= budget;
    const double part = whole ? 1.0 : budget / batch.left;
    const double served = batch.left * part;
    for (std::uint32_t i = 0; i < batch.parcels; ++i) {
      Parcel& parcel = port.parcels[i];
      const double bytes = whole ? parcel.bytes : parcel.bytes * part;
      parcel.bytes -= bytes;
      leave(parcel, bytes, whole);
    }
    port.backlog = whole && port.batches.size() == 1 ? 0.0 : port.backlog - served;
    batch.left -= served;
    budget -= served;
    if (!whole) return;
    port.parcels.erase(port.parcels.begin(), port.parcels.begin() + batch.parcels);
    port.batches.pop_front();
  }
}

}  // namespace ringwright::network_models
