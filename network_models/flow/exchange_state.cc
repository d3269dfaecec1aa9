// Exchanges at one moment: what of their messages has arrived, and a hash of what decides their future.
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "network_models/flow/flow_exchanges.h"

namespace ringwright::network_models {

bool FlowExchanges::has_arrived(std::uint32_t number, std::uint32_t edge) const {
  const InFlight& exchange = exchanges_[number];
  const Part* const part = part_at_once(exchange, edge);
  if (part == nullptr) return exchange.arrived[edge];
  if (has_ended(*part)) return true;
  const TimePoint now = state_.engine.now();
  const ExchangePlan::Place place = exchange.plan->places[edge];
  return timeline_of(exchange, place.part, now).messages()[place.edge].end <= now;
}

void FlowExchanges::add_to(std::vector<LinkUsage>& usage) const {
  const TimePoint now = state_.engine.now();
  for (const InFlight& exchange : exchanges_) {
    if (exchange.at_once == 0) continue;
    for (std::uint32_t part = 0; part < exchange.plan->parts.size(); ++part) {
      if (!exchange.parts[part].at_once) continue;
      const std::vector<LinkId>& links = exchange.plan->parts[part].links;
      const auto carried = timeline_of(exchange, part, now).usage(now, ExchangeTimeline::InFlight::kCounted);
      for (std::size_t link = 0; link < links.size(); ++link) {
        usage[links[link].index()].bytes += carried[link].bytes;
        usage[links[link].index()].busy += carried[link].busy;
      }
    }
  }
}

// A sum: the number of an exchange does not matter.
std::uint64_t FlowExchanges::digest() const {
  std::uint64_t sum = 0;
  for (const InFlight& exchange : exchanges_) {
    if (exchange.over == exchange.members.size()) continue;
    for (std::uint32_t number = 0; number < exchange.members.size(); ++number) {
      const Member& member = exchange.members[number];
      if (member.at_once) sum += digest_at_once(exchange, number);
      if (member.listener != nullptr && member.pending > 0) sum += digest_pending(exchange, number);
    }
  }
  return sum;
}

// Of an exchange that is at once its starts decide all else.
std::uint64_t FlowExchanges::digest_at_once(const InFlight& exchange, std::uint32_t number) const {
  const Member& member = exchange.members[number];
  const Duration since = state_.engine.now() - exchange.starts[number];
  return mix(~member.listener->identity(member.token), static_cast<std::uint64_t>(since.count()));
}

std::uint64_t FlowExchanges::digest_pending(const InFlight& exchange, std::uint32_t number) const {
  const Member& member = exchange.members[number];
  std::uint64_t state = member.listener->identity(member.token);
  for (const std::uint32_t edge : exchange.exchange->shape.awaited_by(number)) {
    const Part* const part = part_at_once(exchange, edge);
    const std::uint64_t arrived = exchange.arrived[edge] || (part != nullptr && has_ended(*part)) ? 1 : 0;
    state = mix(state, part != nullptr && arrived == 0 ? 2 : arrived);
  }
  const std::optional<TimePoint> end = end_at_once(exchange, number);
  if (end && *end != kNever && *end > state_.engine.now()) {
    state = mix(state, static_cast<std::uint64_t>((*end - state_.engine.now()).count()));
  }
  return state;
}

}  // namespace ringwright::network_models
