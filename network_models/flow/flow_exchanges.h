// Exchanges: members of a collective that send all their messages when they start, and end when all that they send and
// await have arrived.
//
// The messages of an exchange share links with each other. Those that do are a *part* of it (exchange_parts.h). As long
// as no other flow uses its links, a part goes *at once*: its timeline follows from the starts of its members
// (exchange_timeline.h), and mostly is that of an earlier one of equal kind and starts (exchange_plans.h). It ends for
// each member at one moment, for many at the same: the exchange wakes up at these moments. When another flow enters one
// of the links, each message of the part goes on by itself from where it is, with its bytes, its rate and the end that
// they lead to.
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "core/base/inline_vector.h"
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
  // The exchange wakes up: what goes at once ends now for one or several members.
  void end(FlowSlot flow, Arrivals& arrivals);
  // A message that went by itself has arrived. Members that end join `arrivals`.
  void take_arrival(FlowSlot flow, Arrivals& arrivals);
  // Another flow enters a link that a part has to itself. Returns the messages that have to enter their links now;
  // valid until the next call.
  [[nodiscard]] std::span<const FlowSlot> split(FlowSlot owner);
  // The same for all parts of all exchanges, or of those that use the link.
  [[nodiscard]] std::span<const FlowSlot> split_all();
  [[nodiscard]] std::span<const FlowSlot> split_all_over(LinkId link);
  // The link, over which no exchange has a part at once, has another capacity.
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
    std::uint32_t pending = 0;  // messages that it sends or awaits, that go by themselves and have not arrived
    bool at_once = false;       // and others, that go at once
  };
  struct Part {
    const ExchangeOutcome* outcome = nullptr;  // when all have started
    TimePoint begins;                          // when its first member has started; with an outcome
    TimePoint ends;                            // when all its messages have arrived; the same
    FlowSlot owner = kNone;                    // of the links; taken when it is needed first
    bool at_once = false;
  };
  struct InFlight {
    std::uint32_t number = 0;
    const Exchange* exchange = nullptr;
    const ExchangePlan* plan = nullptr;   // while a part goes at once
    InlineVector<Part, 1> parts;          // those of the plan, and perhaps more
    std::deque<ExchangeOutcome> passing;  // by part: outcomes that are not kept
    std::uint32_t at_once = 0;            // parts
    std::vector<Member> members;
    std::vector<TimePoint> starts;  // by member
    std::vector<TimePoint> ends;    // the same: of what goes at once; kNever before all have started
    FlowSlot alarm = kNone;         // wakes the exchange up at the next of these
    std::vector<bool> arrived;      // by edge; of parts that do not go at once
    std::uint32_t started = 0;      // members
    std::uint32_t over = 0;
  };
  struct Place {
    std::uint32_t exchange = 0;
    std::uint32_t part = 0;  // edge of a message, part of an owner, or member
  };

  void begin(InFlight& exchange);
  [[nodiscard]] bool claim(InFlight& exchange, std::uint32_t part);
  void close_ended(std::span<const LinkId> links);
  [[nodiscard]] bool has_ended(const Part& part) const {
    return part.outcome != nullptr && part.ends <= state_.engine.now();
  }
  // The part of a message that goes at once; null: it goes by itself, or has arrived.
  [[nodiscard]] static const Part* part_at_once(const InFlight& exchange, std::uint32_t edge) {
    if (exchange.at_once == 0) return nullptr;
    const Part& part = exchange.parts[exchange.plan->places[edge].part];
    return part.at_once ? &part : nullptr;
  }
  void start_messages(InFlight& exchange, std::uint32_t member);
  void expect_ends(InFlight& exchange);
  void expect_next_end(InFlight& exchange);
  // Of an only part at once all members are senders, and wait.
  [[nodiscard]] static bool is_only(const InFlight& exchange) { return exchange.plan->parts.size() == 1; }
  // By sender of a part at once.
  [[nodiscard]] static std::span<const TimePoint> starts_of(const InFlight& exchange, std::uint32_t part,
                                                            std::vector<TimePoint>& scratch);
  [[nodiscard]] static ExchangeTimeline timeline_of(const InFlight& exchange, std::uint32_t part, TimePoint now);
  // Of the messages of a member that go at once: kNever where nothing is known, none where there are no such messages.
  [[nodiscard]] std::optional<TimePoint> end_at_once(const InFlight& exchange, std::uint32_t member) const;
  void split_part(InFlight& exchange, std::uint32_t part);
  void resume(InFlight& exchange, std::uint32_t part);
  void resume_message(InFlight& exchange, std::uint32_t edge, const ExchangeTimeline::Message& message);
  void resume_member(InFlight& exchange, std::uint32_t member, std::uint32_t more);
  void split_parts(InFlight& exchange);
  [[nodiscard]] FlowSlot make_message(const InFlight& exchange, const ExchangePlan& plan, std::uint32_t edge);
  void await_messages(InFlight& exchange, std::uint32_t member) const;
  void end_member(InFlight& exchange, std::uint32_t member, Arrivals& arrivals);
  void close(InFlight& exchange, std::uint32_t part);
  void give_back(FlowSlot flow);
  [[nodiscard]] FlowSlot take_row(const Place& place);
  void put(FlowSlot flow, const Place& place);
  [[nodiscard]] std::uint64_t digest_at_once(const InFlight& exchange, std::uint32_t member) const;
  [[nodiscard]] std::uint64_t digest_pending(const InFlight& exchange, std::uint32_t member) const;

  FlowState& state_;
  FlowBatches& batches_;
  ExchangePlans plans_;
  std::deque<InFlight> exchanges_;
  std::vector<std::uint32_t> free_;
  std::vector<Place> places_;       // by flow
  std::vector<FlowSlot> messages_;  // answer of start and split
  std::vector<TimePoint> starts_;   // scratch of expect_ends
  std::uint64_t fast_forwarded_ = 0;
};

}  // namespace ringwright::network_models
