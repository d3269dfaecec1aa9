// Rings: edges of messages that wait for each other, as the members of a ring collective do.
//
// An edge's next message leaves when its own and that of the edge before it have arrived; nobody else is asked. As long
// as no other flow uses the links of a ring and its edges share none, the ring goes *at once*: its timeline is known
// (ring_timeline.h), and every edge has one event, its end. When another flow enters one of the links, all edges go on
// message by message from where they are, each with the bytes and the end that it would have had. A message whose own
// links are free then goes *alone*: its end is known too, unless another flow enters one of them.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "core/ports/network_model.h"
#include "network_models/flow/arrivals.h"
#include "network_models/flow/flow_batches.h"
#include "network_models/flow/flow_state.h"
#include "network_models/flow/ring_timeline.h"

namespace ringwright::network_models {

class FlowRings {
 public:
  FlowRings(FlowState& state, FlowBatches& batches) : state_(state), batches_(batches) {}

  [[nodiscard]] std::uint32_t open(std::uint32_t edges);
  // The edge's messages are those of this flow, which has its path; it sets out at this instant.
  void start(RingPlace place, const RingEdge& edge, FlowSlot flow);
  [[nodiscard]] std::uint32_t arrived_in(RingPlace place) const;

  // The flow's next message leaves now. True: it goes alone, with its arrival as its only event.
  [[nodiscard]] bool set_out(FlowSlot flow);
  // Whether its message has paid its latency now. Queues of latencies still contain messages of rings that went at once
  // meanwhile.
  [[nodiscard]] bool is_due(FlowSlot flow) const;
  // The flow's message has arrived. Flows whose next one leaves now join `again`, edges that end `arrivals`.
  void take_arrival(FlowSlot flow, std::vector<FlowSlot>& again, Arrivals& arrivals);
  // At the end of an instant, when all rates are known: rings that may, go at once.
  void look();
  // The end of an edge of a ring that goes at once, or of a message that goes alone; otherwise as take_arrival().
  void end(FlowSlot flow, std::vector<FlowSlot>& again, Arrivals& arrivals);
  // Another flow enters a link that the edge has to itself. Returns the flows of the ring whose messages have to enter
  // their links now; valid until the next call.
  [[nodiscard]] std::span<const FlowSlot> split(FlowSlot flow);

  // What the messages of rings that go at once have carried so far.
  void add_to(std::vector<LinkUsage>& usage) const;
  // The part of the flow's state that its row does not tell.
  [[nodiscard]] std::uint64_t phase(FlowSlot flow) const;
  // Messages that were not simulated one by one.
  [[nodiscard]] std::uint64_t fast_forwarded() const { return fast_forwarded_; }

 private:
  static constexpr FlowSlot kNone = std::numeric_limits<FlowSlot>::max();

  struct Member {
    FlowSlot flow = kNone;  // while it has messages to send
    TransferListener* listener = nullptr;
    std::uint64_t token = 0;
    std::uint64_t order = 0;
    TimePoint due;       // its message has paid its latency then
    bool queued = false;  // among the latencies; otherwise `due` is among the ends
    bool waits = false;  // for the message of the edge before
    bool alone = false;  // its message goes alone
    bool moved = false;  // its message had entered its links when the ring began to go at once
    bool over = false;   // and reported
  };
  struct Ring {
    RingTimeline timeline;
    std::vector<Member> members;
    std::uint32_t messages = 0;  // of each edge
    std::uint32_t started = 0;   // edges
    std::uint32_t over = 0;
    std::uint32_t hindered = 0;  // the last edge whose links another flow used
    bool at_once = false;
    bool noted = false;
    bool overlaps = false;  // its edges share links
  };
  // A message in flight at a moment.
  struct Flight {
    bool moves = false;
    TimePoint since;  // in its links
  };

  [[nodiscard]] Ring& ring_of(FlowSlot flow) { return rings_[places_[flow].ring]; }
  bool go_alone(FlowSlot flow, TimePoint arrives);
  void end_alone(FlowSlot flow, Ring& ring, std::uint32_t edge);
  bool split_alone(FlowSlot flow, Member& member, double rate);
  void note(RingPlace place);
  [[nodiscard]] bool has_free_links(const Ring& ring, std::uint32_t edge) const;
  [[nodiscard]] bool may_go_at_once(Ring& ring) const;
  bool claim_links(Ring& ring);
  void go_at_once(Ring& ring);
  void take_state(Ring& ring, std::uint32_t edge);
  [[nodiscard]] Flight flight(const Ring& ring, std::uint32_t edge, const RingTimeline::Position& position,
                              TimePoint now) const;
  [[nodiscard]] RingTimeline::Work work_of(const Ring& ring, std::uint32_t edge, std::uint32_t done) const;
  void book(const Ring& ring, std::uint32_t edge, std::uint32_t done);
  struct Carried {
    double bytes = 0.0;
    Duration busy;
  };
  [[nodiscard]] static Carried carried_in(Duration time, double rate);
  [[nodiscard]] Carried carried_at_once(const Ring& ring, std::uint32_t edge,
                                        const RingTimeline::Position& position) const;
  void resume(Ring& ring, std::uint32_t edge, const RingTimeline::Position& position);
  void release(Member& member);
  void report(Ring& ring, std::uint32_t edge, Arrivals& arrivals);

  FlowState& state_;
  FlowBatches& batches_;
  std::deque<Ring> rings_;
  std::vector<std::uint32_t> free_;
  std::vector<RingPlace> places_;      // by flow
  std::vector<std::uint32_t> noted_;   // rings to look at
  std::vector<FlowSlot> entering_;     // answer of split
  RingTimeline::Walk walk_;            // scratch
  std::uint64_t fast_forwarded_ = 0;
};

}  // namespace ringwright::network_models
