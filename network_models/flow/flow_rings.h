// Rings: members that go through the steps of a collective together, one message over each of their edges in a step.
//
// A member's next messages leave when those that it has sent and those that it awaits have arrived (RingShape); nobody
// else is asked. As long as no other flow uses the links of a ring and its edges share none, the ring goes *at once*:
// its timeline is known (ring_timeline.h), and every member has one event, its end. When another flow enters one of the
// links, all edges go on message by message from where they are, each with the bytes and the end that it would have
// had. Edges that have their links to themselves when a message sets out are then foreseen (ring_foresight.h): most of
// their messages have no event of their own.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "core/ports/network_model.h"
#include "network_models/flow/arrivals.h"
#include "network_models/flow/flow_batches.h"
#include "network_models/flow/flow_state.h"
#include "network_models/flow/ring_foresight.h"
#include "network_models/flow/ring_in_flight.h"
#include "network_models/flow/ring_timeline.h"

namespace ringwright::network_models {

class FlowRings {
 public:
  FlowRings(FlowState& state, FlowBatches& batches) : state_(state), batches_(batches), foresight_(state, batches) {}

  // The shape outlives this.
  [[nodiscard]] std::uint32_t open(const RingShape& shape);
  // The messages of the member's edges are those of these flows, which have their paths; they set out at this instant.
  void start(RingPlace place, const RingMember& member, std::span<const FlowSlot> flows);
  [[nodiscard]] std::uint32_t arrived_in(std::uint32_t ring, std::uint32_t edge) const;

  // The flow's next message leaves now. True: it is known when it arrives.
  [[nodiscard]] bool set_out(FlowSlot flow);
  // Whether its message has paid its latency now. Queues of latencies still contain messages of rings that went at once
  // meanwhile.
  [[nodiscard]] bool is_due(FlowSlot flow) const;
  // The flow's message has arrived. Flows whose next one leaves now join `again`, members that end `arrivals`.
  void take_arrival(FlowSlot flow, std::vector<FlowSlot>& again, Arrivals& arrivals);
  // At the end of an instant, when all rates are known: rings that may, go at once.
  void look();
  // The end of a member, or the beginning of its step, at a time that was known; otherwise as take_arrival().
  void end(FlowSlot flow, std::vector<FlowSlot>& again, Arrivals& arrivals);
  // Another flow enters a link that the edge has to itself. Returns the flows of the ring whose messages have to enter
  // their links now; valid until the next call.
  [[nodiscard]] std::span<const FlowSlot> split(FlowSlot flow);
  // A link has another capacity, or a flow another route, from now on.
  void forget_rates() { foresight_.forget_rates(); }
  // The flow has links to itself, and may not need them at this moment: then others may have them.
  void give_way(FlowSlot flow);

  // What the messages of rings that go at once have carried so far.
  void add_to(std::vector<LinkUsage>& usage) const;
  // The part of the flow's state that its row does not hold; of a foreseen edge, all of it.
  [[nodiscard]] std::uint64_t phase(FlowSlot flow) const;
  [[nodiscard]] bool is_foreseen(FlowSlot flow) const;
  // Messages that were not simulated one by one.
  [[nodiscard]] std::uint64_t fast_forwarded() const { return fast_forwarded_; }

 private:
  using Ring = RingInFlight;
  static constexpr FlowSlot kNone = Ring::kNone;
  struct Place {
    std::uint32_t ring = 0;
    std::uint32_t edge = 0;
  };

  void note(std::uint32_t number);
  [[nodiscard]] bool has_free_links(Ring& ring, std::uint32_t edge) const;
  [[nodiscard]] bool may_go_at_once(Ring& ring) const;
  bool claim_links(Ring& ring);
  void go_at_once(Ring& ring);
  void take_state(Ring& ring, std::uint32_t edge);
  void take_foreseen(Ring& ring, std::uint32_t edge);
  void book(const Ring& ring, std::uint32_t edge, std::uint32_t done);
  void begin_step(Ring& ring, std::uint32_t member, std::vector<FlowSlot>& again, Arrivals& arrivals);
  void end_member(Ring& ring, std::uint32_t member, Arrivals& arrivals);
  void resume_member(Ring& ring, std::uint32_t member, std::span<const RingTimeline::Position> positions);
  void resume(Ring& ring, std::uint32_t edge, const RingTimeline::Position& position);
  void release(Ring& ring, std::uint32_t edge);
  void report(Ring& ring, std::uint32_t member, Arrivals& arrivals);

  FlowState& state_;
  FlowBatches& batches_;
  RingForesight foresight_;
  std::deque<Ring> rings_;
  std::vector<std::uint32_t> free_;
  std::vector<Place> places_;         // by flow
  std::vector<std::uint32_t> noted_;  // rings to look at
  std::vector<FlowSlot> entering_;    // answer of split
  RingTimeline::Walk walk_;           // scratch
  std::uint64_t fast_forwarded_ = 0;
};

}  // namespace ringwright::network_models
