// Exchanges: members of a collective that send all their messages when they start, and end when all that they send and
// await have arrived.
//
// The messages of an exchange share links with each other. As long as no other flow uses these links, the exchange
// goes *at once*: its timeline follows from the starts of its members (exchange_timeline.h), and mostly is that of an
// earlier one of equal kind and starts (exchange_plans.h). Every member has one event, its end. When another flow
// enters one of the links, each message goes on by itself from where it is, with its bytes, its rate and the end that
// they lead to.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <vector>

#include "core/ports/network_model.h"
#include "network_models/flow/arrivals.h"
#include "network_models/flow/exchange_plans.h"
#include "network_models/flow/flow_batches.h"
#include "network_models/flow/flow_routes.h"
#include "network_models/flow/flow_state.h"

namespace ringwright::network_models {

class FlowExchanges {
 public:
  FlowExchanges(FlowState& state, FlowBatches& batches, FlowRoutes& routes)
      : state_(state), batches_(batches), plans_(state, routes) {}

  // The exchange outlives this.
  [[nodiscard]] std::uint32_t open(const Exchange& exchange);
  // The member's messages leave now. Returns those that set out by themselves; valid until the next call.
  [[nodiscard]] std::span<const FlowSlot> start(ExchangePlace place, std::uint64_t token, TransferListener& listener);
  [[nodiscard]] bool has_arrived(std::uint32_t exchange, std::uint32_t edge) const;
  // The end of a member of an exchange that went at once until now.
  void end(FlowSlot flow, Arrivals& arrivals);
  // A message that went by itself has arrived. Members that end join `arrivals`.
  void take_arrival(FlowSlot flow, Arrivals& arrivals);
  // Another flow enters a link that the exchange has to itself. Returns the messages that have to enter their links
  // now; valid until the next call.
  [[nodiscard]] std::span<const FlowSlot> split(FlowSlot owner);
  // The same for all exchanges.
  [[nodiscard]] std::span<const FlowSlot> split_all();
  // The link, which is that of no exchange at once, has another capacity.
  void forget_capacity(LinkId link) { plans_.forget_capacity(link); }
  // No exchange is at once, and routes have changed.
  void forget_routes() { plans_.forget_routes(); }

  // What the messages of exchanges at once have carried so far.
  void add_to(std::vector<LinkUsage>& usage) const;
  // A hash of the state of exchanges that is not in the rows of flows.
  [[nodiscard]] std::uint64_t digest() const;
  // Messages that were not simulated one by one.
  [[nodiscard]] std::uint64_t fast_forwarded() const { return fast_forwarded_; }

 private:
  static constexpr FlowSlot kNone = std::numeric_limits<FlowSlot>::max();

  struct Member {
    TransferListener* listener = nullptr;
    std::uint64_t token = 0;
    std::uint64_t order = 0;    // of its first message
    FlowSlot flow = kNone;      // of all its messages, while they go at once
    std::uint32_t pending = 0;  // messages that it sends or awaits and that have not arrived
  };
  struct InFlight {
    const Exchange* exchange = nullptr;
    const ExchangePlan* plan = nullptr;        // while it goes at once
    const ExchangeOutcome* outcome = nullptr;  // when all have started at once
    ExchangeOutcome passing;                   // one that is not kept
    FlowSlot owner = kNone;                    // of the links
    std::vector<Member> members;
    std::vector<TimePoint> starts;  // by member
    std::vector<bool> arrived;      // by edge; of messages that go by themselves
    std::uint32_t started = 0;      // members
    std::uint32_t over = 0;
    bool at_once = false;
  };
  struct Place {
    std::uint32_t exchange = 0;
    std::uint32_t part = 0;  // edge of a message, or member
  };

  void begin(InFlight& exchange);
  void expect_ends(InFlight& exchange);
  void resume(InFlight& exchange);
  void resume_message(InFlight& exchange, std::uint32_t edge, const ExchangeTimeline::Message& message);
  [[nodiscard]] FlowSlot make_message(const InFlight& exchange, const ExchangePlan& plan, std::uint32_t edge);
  void await_messages(InFlight& exchange, std::uint32_t member) const;
  void end_member(InFlight& exchange, std::uint32_t member, Arrivals& arrivals);
  void close(InFlight& exchange);
  void give_back(FlowSlot flow);
  void put(FlowSlot flow, const Place& place);
  [[nodiscard]] std::uint32_t number_of(const InFlight& exchange) const { return places_[exchange.owner].exchange; }

  FlowState& state_;
  FlowBatches& batches_;
  ExchangePlans plans_;
  std::deque<InFlight> exchanges_;
  std::vector<std::uint32_t> free_;
  std::vector<Place> places_;       // by flow
  std::vector<FlowSlot> messages_;  // answer of start and split
  std::uint64_t fast_forwarded_ = 0;
};

}  // namespace ringwright::network_models
