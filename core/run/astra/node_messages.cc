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
    Meeting& meeting = meetings_[message];
    if (meeting.controls == 0) {
      meeting.senders.push_back(node);
      return;
    }
    if (--meeting.controls == 0 && meeting.empty()) meetings_.erase(message);
  }
  send_later(message, node, false);
}

bool NodeMessages::receive(const NodeMessage& message, std::uint64_t node) {
  if (!rendezvous_) return wait(message, node);
  send_later(message, node, true);
  return false;
}

bool NodeMessages::wait(const NodeMessage& message, std::uint64_t node) {
  Meeting& meeting = meetings_[message];
  if (meeting.arrived == 0) {
    meeting.receivers.push_back(node);
    return false;
  }
  if (--meeting.arrived == 0 && meeting.empty()) meetings_.erase(message);
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
    Meeting& meeting = meetings_[arrived.message];
    if (meeting.senders.empty()) {
      ++meeting.controls;
      return result;
    }
    const std::uint64_t sender = meeting.senders.front();
    meeting.senders.pop_front();
    if (meeting.empty()) meetings_.erase(arrived.message);
    send_later(arrived.message, sender, false);
    return result;
  }
  result.sent = arrived.node;
  Meeting& meeting = meetings_[arrived.message];
  if (meeting.receivers.empty()) {
    ++meeting.arrived;
    return result;
  }
  result.received = meeting.receivers.front();
  meeting.receivers.pop_front();
  if (meeting.empty()) meetings_.erase(arrived.message);
  return result;
}

std::vector<NodeMessages::Waiting> NodeMessages::waiting_receives() const {
  std::vector<Waiting> waiting;
  for (const auto& [message, meeting] : meetings_) {
    for (const std::uint64_t node : meeting.receivers) waiting.push_back({.message = message, .node = node});
  }
  return waiting;
}

std::vector<NodeMessages::Waiting> NodeMessages::waiting_sends() const {
  std::vector<Waiting> waiting;
  for (const auto& [message, meeting] : meetings_) {
    for (const std::uint64_t node : meeting.senders) waiting.push_back({.message = message, .node = node});
  }
  return waiting;
}

}  // namespace ringwright
