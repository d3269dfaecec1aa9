// The messages of an exchange while no other flow uses their links: when each arrives.
//
// They share links with each other alone, so that their rates and ends follow from the moments at which the members
// start: a simulation by the rules of the flow model (flow_model.h), on the links of the exchange.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/ports/network_model.h"
#include "core/ports/router.h"
#include "network_models/flow/completion_queue.h"
#include "network_models/flow/link_meters.h"
#include "network_models/solver/incremental_max_min.h"

namespace ringwright::network_models {

struct ExchangePaths {
  struct Edge {
    std::uint32_t member = 0;
    Duration latency;
    double bytes = 0.0;
    std::vector<Hop> hops;  // links numbered within the exchange

    [[nodiscard]] bool moves() const { return bytes > 0.0 && !hops.empty(); }  // or only pays its latency
  };
  std::vector<Edge> edges;
  std::vector<Bandwidth> capacities;  // by link
};

class ExchangeTimeline {
 public:
  // A message at the end of the timeline.
  struct Message {
    TimePoint due = kNever;  // when it has paid its latency; kNever: its member has not started
    TimePoint end = kNever;  // at its present rate; kNever: it has not entered its links
    TimePoint settled;
    double remaining = 0.0;  // as of `settled`
    double rate = 0.0;       // bytes per second, since `settled`
  };

  // All that happens before `until`, if members start then (kNever: not yet).
  ExchangeTimeline(const ExchangePaths& paths, std::span<const TimePoint> starts, TimePoint until);

  // By edge.
  [[nodiscard]] std::span<const Message> messages() const { return messages_; }
  // By link of the exchange, at a moment from `until` on before which nothing else happens. Bytes are those of messages
  // that have arrived by then, without or with what others have moved.
  enum class InFlight : std::uint8_t { kLeftOut, kCounted };
  [[nodiscard]] std::vector<LinkUsage> usage(TimePoint now, InFlight in_flight) const;

 private:
  struct Due {
    TimePoint when;
    std::uint32_t edge = 0;
  };
  void begin(std::span<const TimePoint> starts);
  [[nodiscard]] TimePoint next_moment() const;
  void enter_due(TimePoint now);
  void end_arrived(TimePoint now);
  void settle(std::uint32_t edge, TimePoint now);

  const ExchangePaths& paths_;
  IncrementalMaxMin shares_;
  LinkMeters meters_;
  std::vector<Message> messages_;
  std::vector<Due> due_;               // in order
  std::size_t entered_ = 0;            // of these
  std::vector<std::uint32_t> moving_;  // edges
};

}  // namespace ringwright::network_models
