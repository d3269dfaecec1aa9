#include "core/run/collectives/message_player.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/random.h"

namespace ringwright {

MessagePlayer::MessagePlayer(PlayedJob& job, MessageCarrier* carrier, const CallOverhead* overhead)
    : job_(job),
      carrier_(carrier),
      overhead_(overhead),
      costs_(job.classes.count()),
      channels_(job.classes.count()),
      queues_(job.classes.count()) {}

int MessagePlayer::peer_of(const Request& request) const {
  return job_.graph.messages[request.spec].peer_of(job_.index_in_group(request.rank_class, request.dimension),
                                                   job_.group_of(request.rank_class, request.dimension).size());
}

int MessagePlayer::place_sent_to(const Request& send) const {
  const MessageSpec& spec = job_.graph.messages[send.spec];
  return spec.relative ? -spec.peer : spec.peer;
}

int MessagePlayer::place_received_at(const Request& receive) const {
  const MessageSpec& spec = job_.graph.messages[receive.spec];
  const auto size = static_cast<int>(job_.group_of(receive.rank_class, receive.dimension).size());
  return spec.relative ? spec.peer - size : job_.index_in_group(receive.rank_class, receive.dimension);
}

ClassId MessagePlayer::peer_class(const Request& request) const {
  return job_.class_of_member(request.rank_class, request.dimension, peer_of(request));
}

const MessagePlayer::SentMessages* MessagePlayer::find_sent(ClassId sender, DimensionId dimension, int peer,
                                                          std::uint8_t channel) const {
  const auto& all = channels_[sender.index()];
  const auto found = std::ranges::find_if(
      all, [&](const SentMessages& c) { return c.dimension == dimension && c.peer == peer && c.channel == channel; });
  return found == all.end() ? nullptr : &*found;
}

MessagePlayer::SentMessages& MessagePlayer::sent_messages(ClassId sender, DimensionId dimension, int peer,
                                                  std::uint8_t channel) {
  for (SentMessages& c : channels_[sender.index()]) {
    if (c.dimension == dimension && c.peer == peer && c.channel == channel) return c;
  }
  channels_[sender.index()].push_back(
      {.dimension = dimension, .peer = peer, .channel = channel, .started = 0, .arrived = {}});
  return channels_[sender.index()].back();
}

// The channel of the peer that a receive waits on: the peer's sends to our index in the group.
const MessagePlayer::SentMessages* MessagePlayer::sent_towards(const Request& receive) const {
  const MessageSpec& spec = job_.graph.messages[receive.spec];
  return find_sent(peer_class(receive), receive.dimension, place_received_at(receive), spec.channel);
}

std::uint32_t MessagePlayer::free_slot(const Request& request) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(in_flight_.size()));
    in_flight_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  in_flight_[slot] = {.request = request};
  return slot;
}

MessageCall MessagePlayer::call_of(const Request& request) const {
  return {.bytes = job_.graph.messages[request.spec].bytes,
          .layout = &job_.graph.layouts[job_.layout_of(request.rank_class, request.dimension)],
          .from = job_.index_in_group(request.rank_class, request.dimension),
          .to = peer_of(request),
          .dimension = request.dimension};
}

void MessagePlayer::send(const Request& request) {
  const MessageSpec& spec = job_.graph.messages[request.spec];
  const std::uint32_t slot = free_slot(request);
  ++sent_messages(request.rank_class, request.dimension, place_sent_to(request), spec.channel).started;
  const TimePoint now = job_.engine.now();
  job_.ledger.begin_communication(request.rank_class, request.dimension, now);
  job_.ledger.begin_communication(peer_class(request), request.dimension, now);
  if (spec.path != DmaPath::kNone || spec.moved_by != MovedBy::kLibrary) return put_on_wire(slot);
  if (carrier_ != nullptr) return carry(slot);
  const Duration overhead = overhead_of(request);
  if (overhead == Duration()) return put_on_wire(slot);
  in_flight_[slot].has_left = false;
  in_flight_[slot].leaves = now + overhead;
  job_.engine.after(overhead, [this, slot] {
    in_flight_[slot].has_left = true;
    put_on_wire(slot);
  });
}

void MessagePlayer::carry(std::uint32_t slot) {
  const Request& request = in_flight_[slot].request;
  const MessageCall call = call_of(request);
  carrier_->carry({.sender = request.rank_class,
                   .receiver = peer_class(request),
                   .to = job_.group_of(request.rank_class, request.dimension)[static_cast<std::size_t>(call.to)],
                   .call = call,
                   .label = message_label(request.dimension, job_.graph.messages[request.spec].channel),
                   .token = slot},
                  *this);
}

void MessagePlayer::put_on_wire(std::uint32_t slot) {
  const Request& request = in_flight_[slot].request;
  const MessageSpec& spec = job_.graph.messages[request.spec];
  const auto& group = job_.group_of(request.rank_class, request.dimension);
  job_.sent[request.rank_class.index()][request.dimension.index()] += spec.bytes;
  ++job_.messages[request.rank_class.index()];
  NetworkModel& network = spec.moved_by == MovedBy::kAgent ? job_.network : job_.paced;
  network.start({.from = job_.rank_of(request.rank_class),
                 .to = group[static_cast<std::size_t>(peer_of(request))],
                 .size = spec.bytes,
                 .route_kind = route_kind_of(spec.path),
                 .label = message_label(request.dimension, spec.channel),
                 .priority = spec.importance == Importance::kYields ? Priority::kLow : Priority::kHigh,
                 .token = slot},
                *this);
}

Duration MessagePlayer::overhead_of(const Request& request) {
  if (overhead_ == nullptr) return {};
  std::vector<Cost>& costs = costs_[request.rank_class.index()];
  for (const Cost& cost : costs) {
    if (cost.spec == request.spec && cost.dimension == request.dimension) return cost.overhead;
  }
  const MessageCall call = call_of(request);
  const auto& group = job_.group_of(request.rank_class, request.dimension);
  const Duration overhead = overhead_->of({.call = call,
                                           .sender = job_.rank_of(request.rank_class),
                                           .receiver = group[static_cast<std::size_t>(call.to)]});
  costs.push_back({.spec = request.spec, .dimension = request.dimension, .overhead = overhead});
  return overhead;
}

bool MessagePlayer::has_arrived(const Request& receive) const {
  const std::uint64_t lag = job_.graph.messages[receive.spec].lag;
  if (receive.sequence < lag) return true;
  const SentMessages* channel = sent_towards(receive);
  return channel != nullptr && channel->arrived.contains(receive.sequence - lag);
}

bool MessagePlayer::receive(Request request) {
  if (has_arrived(request)) return true;
  request.sequence -= job_.graph.messages[request.spec].lag;
  queue_of(request).add(request);
  return false;
}

void MessagePlayer::PendingReceives::add(const Request& receive) {
  if (taken == waiting.size()) {
    waiting.clear();
    taken = 0;
  }
  const auto after = std::ranges::upper_bound(left(), receive.sequence, {}, &Request::sequence) - left().begin();
  waiting.insert(waiting.begin() + static_cast<std::ptrdiff_t>(taken) + after, receive);
}

std::optional<MessagePlayer::Request> MessagePlayer::PendingReceives::take(std::uint64_t sequence) {
  const auto found = std::ranges::lower_bound(left(), sequence, {}, &Request::sequence);
  if (found == left().end() || found->sequence != sequence) return std::nullopt;
  const Request receive = *found;
  const auto position = found - left().begin();
  if (position == 0) {
    ++taken;
  } else {
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(taken) + position);
  }
  return receive;
}

MessagePlayer::PendingReceives& MessagePlayer::queue_of(const Request& receive) {
  const MessageSpec& spec = job_.graph.messages[receive.spec];
  const int peer = peer_of(receive);
  std::vector<PendingReceives>& queues = queues_[receive.rank_class.index()];
  for (PendingReceives& queue : queues) {
    if (queue.dimension == receive.dimension && queue.peer == peer && queue.channel == spec.channel) return queue;
  }
  return queues.emplace_back(PendingReceives{.dimension = receive.dimension,
                                 .peer = peer,
                                 .place = place_received_at(receive),
                                 .channel = spec.channel,
                                 .sender = peer_class(receive),
                                 .waiting = {}});
}

std::optional<MessagePlayer::Request> MessagePlayer::take_waiting(ClassId receiver, const Request& sent) {
  const MessageSpec& spec = job_.graph.messages[sent.spec];
  if (spec.path != DmaPath::kNone) return std::nullopt;
  const int place = place_sent_to(sent);
  for (PendingReceives& queue : queues_[receiver.index()]) {
    if (queue.dimension != sent.dimension || queue.channel != spec.channel || queue.place != place) continue;
    if (queue.sender != sent.rank_class) continue;
    if (const std::optional<Request> receive = queue.take(sent.sequence)) return receive;
  }
  return std::nullopt;
}

void MessagePlayer::on_arrived(std::uint64_t token) {
  on_sent(token);
  on_received(token);
}

void MessagePlayer::end(std::uint64_t token) {
  const auto slot = static_cast<std::uint32_t>(token);
  if (--in_flight_[slot].ends_left == 0) free_.push_back(slot);
}

void MessagePlayer::on_sent(std::uint64_t token) {
  const Request sent = in_flight_[token].request;
  end(token);
  job_.ledger.end_communication(sent.rank_class, sent.dimension, job_.engine.now());
  job_.listener.on_communication_ended(sent.rank_class, sent.task);
}

void MessagePlayer::on_received(std::uint64_t token) {
  const Request sent = in_flight_[token].request;
  end(token);
  const MessageSpec& spec = job_.graph.messages[sent.spec];
  sent_messages(sent.rank_class, sent.dimension, place_sent_to(sent), spec.channel).arrived.add(sent.sequence);
  const ClassId receiver = peer_class(sent);
  job_.ledger.end_communication(receiver, sent.dimension, job_.engine.now());
  // Ending a receive may start others, so each round searches again.
  while (const auto receive = take_waiting(receiver, sent)) {
    if (receive->not_before <= job_.engine.now()) {
      job_.listener.on_delivered(
          receiver,
          {.task = receive->task, .sender = sent.rank_class, .sent = sent.task, .iteration = sent.iteration});
      job_.listener.on_communication_ended(receiver, receive->task);
      continue;
    }
    job_.listener.on_late_receive(receiver, receive->task, receive->not_before);
    job_.engine.at(receive->not_before,
                   [this, receiver, task = receive->task] { job_.listener.on_communication_ended(receiver, task); });
  }
}

std::uint64_t MessagePlayer::identity(std::uint64_t token) const {
  const Request& request = in_flight_[static_cast<std::uint32_t>(token)].request;
  const auto relative = static_cast<std::uint64_t>(request.iteration - job_.reference_iteration);
  return mix(mix(request.rank_class.value, ~std::uint64_t{request.dimension.value}),
             mix(job_.relative_task(request.rank_class, request.task), relative));
}

std::uint64_t MessagePlayer::state_digest() const {
  std::uint64_t sum = 0;  // a sum: the slot of a message does not matter
  for (std::size_t slot = 0; slot < in_flight_.size(); ++slot) {
    if (in_flight_[slot].has_left) continue;
    const Duration left = in_flight_[slot].leaves - job_.engine.now();
    sum += mix(identity(slot), static_cast<std::uint64_t>(left.count()));
  }
  return sum;
}

std::string MessagePlayer::waits_for(ClassId rank_class, std::uint32_t task) const {
  for (const PendingReceives& queue : queues_[rank_class.index()]) {
    const auto receive = std::ranges::find(queue.left(), task, &Request::task);
    if (receive == queue.left().end()) continue;
    const auto& group = job_.group_of(rank_class, queue.dimension);
    const SentMessages* channel = sent_towards(*receive);
    const std::uint64_t started = channel == nullptr ? 0 : channel->started;
    return fmt::format("message {} on channel {} of '{}' from rank {}, which has sent {} there", receive->sequence + 1,
                       queue.channel, job_.graph.dimensions[queue.dimension.index()].name,
                       group[static_cast<std::size_t>(queue.peer)].value, started);
  }
  return {};
}

}  // namespace ringwright
