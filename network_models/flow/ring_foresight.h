// Foreseen edges of rings: arrivals that follow from earlier ones, without an event for each.
//
// While no other flow uses the links of an edge, its message arrives its latency and its bytes at the rate of these
// links after its member's step began, and that is when the last message has arrived that ends the step before. So one
// arrival gives the next member's, and so on along the ring, up to the next edge that shares its links: a recursion of
// maxima and sums, as in ring_timeline.h, but for the stretches of a ring between other flows. A member wakes up only
// where something has to be done then: where an edge of it is not foreseen, where no more arrivals are stored, or where
// it ends.
//
// When another flow enters a link, the message in flight goes on by itself, and what followed from its arrival is
// forgotten: none of that has begun.
#pragma once

#include <cstdint>
#include <vector>

#include "network_models/flow/flow_batches.h"
#include "network_models/flow/flow_state.h"
#include "network_models/flow/ring_in_flight.h"

namespace ringwright::network_models {

class RingForesight {
 public:
  using Ring = RingInFlight;

  RingForesight(FlowState& state, FlowBatches& batches) : state_(state), batches_(batches) {}

  // The edge's next message leaves now. True: when it arrives is known.
  [[nodiscard]] bool set_out(Ring& ring, std::uint32_t edge);
  // A message that was not foreseen has arrived. Returns the members whose next step, or end, is now; valid until the
  // next call.
  [[nodiscard]] const std::vector<std::uint32_t>& take_arrival(Ring& ring, std::uint32_t edge);
  // The member wakes up. Returns the edges whose next message leaves now; valid until the next call.
  [[nodiscard]] const std::vector<std::uint32_t>& wake(Ring& ring, std::uint32_t member);
  // Another flow enters a link of the foreseen edge. True: so does its message, which goes on by itself.
  [[nodiscard]] bool split(Ring& ring, std::uint32_t edge);
  // Counts what has arrived by now.
  void catch_up(Ring& ring, std::uint32_t edge);
  // No message of the edge is foreseen from now on.
  void give_up(Ring& ring, std::uint32_t edge);
  // While the edge is foreseen, of the message after those that have arrived: whether it has left, and when; kNever:
  // that is not known.
  struct Next {
    bool left = false;
    TimePoint leaves = kNever;
  };
  [[nodiscard]] Next next(Ring& ring, std::uint32_t edge);
  // Those that have arrived.
  [[nodiscard]] std::uint32_t arrived(const Ring& ring, std::uint32_t edge) const;
  // Of a foreseen edge, since catch_up().
  [[nodiscard]] Ring::Carried carried(const Ring& ring, std::uint32_t edge) const;
  // A hash of its state.
  [[nodiscard]] std::uint64_t digest(const Ring& ring, std::uint32_t edge) const;
  void find_rate(Ring& ring, std::uint32_t edge) const;
  // A link has another capacity, or a flow another route, from now on.
  void forget_rates() { ++capacities_; }

 private:
  struct Known {
    std::uint32_t edge = 0;
    std::uint32_t message = 0;
  };

  [[nodiscard]] bool begin(Ring& ring, std::uint32_t edge);
  [[nodiscard]] bool append(Ring& ring, std::uint32_t edge, TimePoint leaves);
  void learn(Ring& ring);
  void begin_step(Ring& ring, std::uint32_t member);
  [[nodiscard]] TimePoint end_of_step(const Ring& ring, std::uint32_t member) const;
  void wake_at(Ring& ring, std::uint32_t member, TimePoint at);
  void sleep_on(Ring& ring, std::uint32_t member);
  void forget(Ring& ring, std::uint32_t edge);
  void shorten(Ring& ring, std::uint32_t edge, std::uint32_t messages);
  void take_back(Ring& ring, std::uint32_t member, std::uint32_t step);

  FlowState& state_;
  FlowBatches& batches_;
  std::uint32_t capacities_ = 1;  // how many that links have had so far
  // Scratch and answers.
  std::vector<Known> known_;            // messages whose arrival has become known
  std::vector<std::uint32_t> lost_;     // edges whose arrivals have become unknown
  std::vector<std::uint32_t> ready_;    // members
  std::vector<std::uint32_t> leaving_;  // edges
};

}  // namespace ringwright::network_models
