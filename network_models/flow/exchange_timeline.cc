#include "network_models/flow/exchange_timeline.h"

#include <algorithm>

#include "network_models/flow/flow_table.h"

namespace ringwright::network_models {

ExchangeTimeline::ExchangeTimeline(const ExchangePaths& paths, std::span<const TimePoint> starts, TimePoint until)
    : paths_(paths), shares_(paths.capacities), meters_(paths.capacities.size()), messages_(paths.edges.size()) {
  begin(starts);
  for (TimePoint now = next_moment(); now < until; now = next_moment()) {
    enter_due(now);
    end_arrived(now);
    for (const FlowSlot edge : shares_.solve()) settle(edge, now);
  }
}

void ExchangeTimeline::begin(std::span<const TimePoint> starts) {
  for (std::uint32_t number = 0; number < messages_.size(); ++number) {
    const ExchangePaths::Edge& edge = paths_.edges[number];
    if (starts[edge.member] == kNever) continue;
    Message& message = messages_[number];
    message.due = starts[edge.member] + edge.latency;
    if (!edge.moves()) {
      message.end = message.due;
      continue;
    }
    due_.push_back({.when = message.due, .edge = number});
    shares_.place(number, edge.hops);
  }
  std::ranges::sort(due_, {}, [](const Due& due) { return std::pair(due.when, due.edge); });
}

TimePoint ExchangeTimeline::next_moment() const {
  TimePoint next = entered_ < due_.size() ? due_[entered_].when : kNever;
  for (const std::uint32_t edge : moving_) next = std::min(next, messages_[edge].end);
  return next;
}

void ExchangeTimeline::enter_due(TimePoint now) {
  for (; entered_ < due_.size() && due_[entered_].when == now; ++entered_) {
    const std::uint32_t edge = due_[entered_].edge;
    messages_[edge].remaining = paths_.edges[edge].bytes;
    messages_[edge].settled = now;
    for (const Hop& hop : paths_.edges[edge].hops) meters_.enter(hop.link.value, now);
    shares_.enter(edge);
    moving_.push_back(edge);
  }
}

void ExchangeTimeline::end_arrived(TimePoint now) {
  std::erase_if(moving_, [&](std::uint32_t edge) {
    if (messages_[edge].end != now) return false;
    for (const Hop& hop : paths_.edges[edge].hops) meters_.leave(hop.link.value, now);
    shares_.leave(edge);
    return true;
  });
}

// As FlowModel: it has another rate from now on.
void ExchangeTimeline::settle(std::uint32_t edge, TimePoint now) {
  Message& message = messages_[edge];
  message.remaining = bytes_left(message.remaining, message.rate, now - message.settled);
  message.settled = now;
  message.rate = shares_.rate(edge);
  message.end = now + (message.remaining > 0.0 ? moving_time(message.remaining, message.rate) : Duration());
}

std::vector<LinkUsage> ExchangeTimeline::usage(TimePoint now, InFlight in_flight) const {
  std::vector<LinkUsage> usage = meters_.usage(now);
  for (std::size_t edge = 0; edge < messages_.size(); ++edge) {
    const Message& message = messages_[edge];
    const double bytes = paths_.edges[edge].bytes;
    const bool has_arrived = message.end <= now;
    const bool counts = has_arrived || (in_flight == InFlight::kCounted && message.end != kNever);
    if (!counts) continue;
    const double left = has_arrived ? 0.0 : bytes_left(message.remaining, message.rate, now - message.settled);
    for (const Hop& hop : paths_.edges[edge].hops) {
      usage[hop.link.index()].bytes += hop.share * hop.multiplicity * (bytes - left);
    }
  }
  return usage;
}

}  // namespace ringwright::network_models
