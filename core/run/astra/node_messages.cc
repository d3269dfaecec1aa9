#include "core/run/astra/node_messages.h"

#include "core/ports/message_network.h"

namespace ringwright {
namespace {

constexpr std::int64_t kRendezvousBytes = 8192;

}  // namespace

void NodeMessages::send_later(const NodeMessage& message, std::uint64_t node, bool is_control) {
  std::uint32_t index = free_;
  if (index == UINT32_MAX) {
    index = static_cast<std::uint32_t>(in_flight_.size());
    in_flight_.emplace_back();
  } else {
    free_ = in_flight_[index].next_free;
  }
  in_flight_[index] = {.message = message, .node = node, .is_control = is_control};
  network_.send({.from = is_control ? message.to : message.from,
                 .to = is_control ? message.from : message.to,
                 .bytes = is_control ? kRendezvousBytes : message.bytes,
                 .token = message_token(MessageOwner::kNode, index)});
}

void NodeMessages::send(const NodeMessage& message, std::uint64_t node) {
  if (rendezvous_) {
    Match& match = matches_[message];
    if (match.controls == 0) {
      match.senders.push_back(node);
      return;
    }
    if (--match.controls == 0 && match.empty()) matches_.erase(message);
  }
  send_later(message, node, false);
}

bool NodeMessages::receive(const NodeMessage& message, std::uint64_t node) {
  if (!rendezvous_) return wait(message, node);
  send_later(message, node, true);
  return false;
}

bool NodeMessages::wait(const NodeMessage& message, std::uint64_t node) {
  Match& match = matches_[message];
  if (match.arrived == 0) {
    match.receivers.push_back(node);
    return false;
  }
  if (--match.arrived == 0 && match.empty()) matches_.erase(message);
  return true;
}

NodeMessages::Arrival NodeMessages::on_arrival(std::uint32_t token) {
  const std::uint32_t index = token >> 1U;
  const InFlight arrived = in_flight_[index];
  in_flight_[index].next_free = free_;
  free_ = index;
  Arrival result;
  if (arrived.is_control) {
    if (wait(arrived.message, arrived.node)) result.received = arrived.node;
    Match& match = matches_[arrived.message];
    if (match.senders.empty()) {
      ++match.controls;
      return result;
    }
    const std::uint64_t sender = match.senders.front();
    match.senders.pop_front();
    if (match.empty()) matches_.erase(arrived.message);
    send_later(arrived.message, sender, false);
    return result;
  }
  result.sent = arrived.node;
  Match& match = matches_[arrived.message];
  if (match.receivers.empty()) {
    ++match.arrived;
    return result;
  }
  result.received = match.receivers.front();
  match.receivers.pop_front();
  if (match.empty()) matches_.erase(arrived.message);
  return result;
}

std::vector<NodeMessages::Waiting> NodeMessages::waiting_receives() const {
  std::vector<Waiting> waiting;
  for (const auto& [message, match] : matches_) {
    for (const std::uint64_t node : match.receivers) waiting.push_back({.message = message, .node = node});
  }
  return waiting;
}

std::vector<NodeMessages::Waiting> NodeMessages::waiting_sends() const {
  std::vector<Waiting> waiting;
  for (const auto& [message, match] : matches_) {
    for (const std::uint64_t node : match.senders) waiting.push_back({.message = message, .node = node});
  }
  return waiting;
}

}  // namespace ringwright
