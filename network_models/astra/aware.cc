// ASTRA-sim's congestion-aware network for jobs of node graphs: the links of one dimension, by the rule of
// network_models/astra/message_queues.h.
//
// Links: to and from the switch for every rank; both directions between neighbours of a ring, the shorter direction
// (clockwise where both are equal); one per ordered pair of a full mesh.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/engine/tick_queue.h"
#include "network_models/astra/message_queues.h"
#include "network_models/astra/networks.h"
#include "network_models/astra/open_rings.h"

namespace ringwright::network_models {
namespace {

enum class Folding : bool { kNo, kYes };

// The routes of one dimension, on the clock of a job of node graphs.
class DimensionTraffic {
 public:
  struct Message {
    std::uint32_t token = 0;
    std::uint32_t to = 0;
    std::uint32_t at = 0;  // the rank whose link it waits for or is on; for a switch, its second link is `to`'s
    std::uint32_t hops_left = 0;
    std::uint32_t next = kNoMessage;  // in the queue of a link, or of free records
    bool clockwise = true;
    bool at_source = true;
    std::int64_t bytes = 0;
  };

  DimensionTraffic(const AstraDimension& shape, TickQueue& queue, NetworkEvents events, Folding folding)
      : shape_(shape), link_(shape.link()), queue_(queue), events_(events), is_folded_(folding == Folding::kYes) {}

  [[nodiscard]] std::size_t link_count() const {
    const std::size_t places = is_folded_ ? 1 : shape_.nodes;
    return places * (shape_.block == AstraBlock::kFullyConnected ? shape_.nodes : 2);
  }

  [[nodiscard]] Message message(std::uint32_t from, std::uint32_t to, const NetworkMessage& sent) const {
    const std::uint32_t clockwise = to >= from ? to - from : to + shape_.nodes - from;
    return {.token = sent.token,
            .to = to,
            .at = from,
            .hops_left = shape_.hops(from, to),
            .clockwise = clockwise <= shape_.nodes - clockwise,
            .bytes = sent.bytes};
  }

  [[nodiscard]] Tick now() const { return queue_.now(); }
  [[nodiscard]] Tick moment(Tick delay) const { return queue_.now() + delay; }
  void at(Tick when, std::uint32_t event) { queue_.at(when, {.kind = events_.internal, .index = event}); }
  void ring_event(Tick when, std::uint32_t index) { queue_.at(when, {.kind = events_.ring, .index = index}); }
  void deliver(const Message& message, Tick when) {
    queue_.at(when, {.kind = events_.arrival, .index = message.token});
  }

  // Switch: a rank's link to it, then the one back. Ring: clockwise, then the other. Mesh: by distance.
  [[nodiscard]] std::uint32_t link_of(const Message& message) const {
    const std::uint32_t place = is_folded_ ? 0 : message.at;
    switch (shape_.block) {
      case AstraBlock::kRing: return place * 2 + (message.clockwise ? 0 : 1);
      case AstraBlock::kSwitch:
        if (message.hops_left == 2) return place * 2;
        return is_folded_ ? 1 : message.to * 2 + 1;
      case AstraBlock::kFullyConnected: break;
    }
    const std::uint32_t distance =
        message.to >= message.at ? message.to - message.at : message.to + shape_.nodes - message.at;
    return place * shape_.nodes + distance;
  }
  // The times of the last size are cached, since messages that follow each other are often equal.
  [[nodiscard]] MessageTimes times(std::uint32_t /*link*/, const Message& message) {
    if (message.bytes != last_bytes_) {
      last_bytes_ = message.bytes;
      last_times_ = {.delay = link_.delay(1, message.bytes), .occupancy = link_.occupancy(message.bytes)};
    }
    return last_times_;
  }
  static void started(MessageLink& link, const Message& message, Tick occupancy) {
    link.bytes += message.bytes;
    link.busy += occupancy;
  }
  [[nodiscard]] Tick pass(const Message& message, std::uint32_t claim) {
    return rings_.pass(OpenRings::part(claim),
                       {.entry = now(), .scheduled = scheduled(), .occupancy = times(0, message).occupancy});
  }
  [[nodiscard]] Tick scheduled() const { return queue_.now() - queue_.waited(); }
  void meet_tie() { rings_.meet_tie(); }
  [[nodiscard]] OpenRings& rings() { return rings_; }
  [[nodiscard]] const OpenRings& rings() const { return rings_; }
  [[nodiscard]] bool has_rings() const { return !is_folded_; }

  void arrive(Message& message) const {
    if (shape_.block != AstraBlock::kRing) return;
    message.at = (message.at + (message.clockwise ? 1 : shape_.nodes - 1)) % shape_.nodes;
  }

  [[nodiscard]] std::string name(std::size_t link) const {
    switch (shape_.block) {
      case AstraBlock::kRing:
        return fmt::format("{} of rank {}", link % 2 == 0 ? "clockwise" : "counter-clockwise", link / 2);
      case AstraBlock::kSwitch: return fmt::format("{} rank {}", link % 2 == 0 ? "from" : "to", link / 2);
      case AstraBlock::kFullyConnected: break;
    }
    const std::size_t from = link / shape_.nodes;
    return fmt::format("from rank {} to rank {}", from, (from + link % shape_.nodes) % shape_.nodes);
  }

 private:
  AstraDimension shape_;
  AstraLink link_;
  TickQueue& queue_;
  NetworkEvents events_;
  bool is_folded_;
  std::int64_t last_bytes_ = -1;
  MessageTimes last_times_;
  OpenRings rings_;
};

class AstraAwareNetwork final : public MessageNetwork {
 public:
  AstraAwareNetwork(const DimensionTraffic& traffic, std::span<const std::uint32_t> members)
      : traffic_(traffic), members_(members), queues_(traffic_, traffic_.link_count()) {}

  void send(const NetworkMessage& message) override {
    const std::uint32_t from = members_.empty() ? message.from : members_[message.from];
    const std::uint32_t to = members_.empty() ? message.to : members_[message.to];
    queues_.send(traffic_.message(from, to, message));
  }
  void on_event(std::uint32_t index) override { queues_.on_event(index); }
  void reset() override { queues_.reset(); }
  [[nodiscard]] bool met_ties() const override { return queues_.met_ties(); }

  [[nodiscard]] std::optional<std::uint32_t> open_ring(const MessageRing& ring) override;
  void enter_ring(const MessageRingMember& member) override;
  [[nodiscard]] std::optional<MessageRingMember> on_ring_event(std::uint32_t index) override;
  [[nodiscard]] bool rings_met_tie() const override { return traffic_.rings().met_tie(); }

  [[nodiscard]] std::vector<MessageLinkUsage> busiest_links(std::size_t most) const override {
    const std::vector<MessageLink>& links = queues_.links();
    std::vector<std::size_t> order(links.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::size_t count = std::min(most, order.size());
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count), [&](auto a, auto b) {
      return links[a].busy != links[b].busy ? links[a].busy > links[b].busy : a < b;
    });
    std::vector<MessageLinkUsage> usage;
    for (std::size_t i = 0; i < count; ++i) {
      const MessageLink& link = links[order[i]];
      if (link.bytes > 0) usage.push_back({.name = traffic_.name(order[i]), .bytes = link.bytes, .busy = link.busy});
    }
    return usage;
  }

 private:
  // A ring event asks whether the last message to a member starts now on its last link, or has arrived.
  enum class RingEvent : std::uint32_t { kStarts, kArrives };
  void ring_event(Tick when, RingEvent event, const MessageRingMember& member) {
    const std::uint32_t number = OpenRings::number({.ring = member.ring, .place = member.position});
    traffic_.ring_event(when, number << 1U | static_cast<std::uint32_t>(event));
  }
  [[nodiscard]] bool find_paths(const MessageRing& ring);
  [[nodiscard]] bool is_free(std::uint32_t link);
  void leave_ring(const MessageRingMember& member);
  void release(std::uint32_t link);

  DimensionTraffic traffic_;
  std::span<const std::uint32_t> members_;
  MessageQueues<DimensionTraffic> queues_;
  std::vector<std::uint32_t> links_;  // of the ring that is being opened, path by path
  std::vector<std::uint32_t> paths_;  // their first ones
  std::vector<std::uint32_t> sorted_links_;
};

// Rings with long paths are left to their messages: they would keep their links from the rings of neighbours.
bool AstraAwareNetwork::find_paths(const MessageRing& ring) {
  const std::size_t count = ring.members.size();
  const std::size_t most = count * 2;
  paths_.clear();
  links_.clear();
  for (std::size_t position = 0; position < count && links_.size() <= most; ++position) {
    paths_.push_back(static_cast<std::uint32_t>(links_.size()));
    DimensionTraffic::Message message = traffic_.message(
        ring.members[position], ring.members[position + 1 < count ? position + 1 : 0], {.bytes = ring.bytes});
    for (; message.hops_left > 0 && links_.size() <= most; --message.hops_left) {
      links_.push_back(traffic_.link_of(message));
      traffic_.arrive(message);
    }
  }
  const auto is_taken = [&](std::uint32_t link) { return !is_free(link); };
  if (links_.size() > most || std::ranges::any_of(links_, is_taken)) return false;
  sorted_links_ = links_;
  std::ranges::sort(sorted_links_);
  return std::ranges::adjacent_find(sorted_links_) == sorted_links_.end();
}

// A ring whose messages have all entered the link needs it no more.
bool AstraAwareNetwork::is_free(std::uint32_t link) {
  const std::uint32_t claim = queues_.claim_of(link);
  if (claim == kUnclaimed) return true;
  const OpenRings::Part part = OpenRings::part(claim);
  const PathRing& ring = traffic_.rings().ring(part.ring);
  if (!ring.is_current() || ring.last_entry(part.place) >= traffic_.now()) return false;
  release(link);
  return true;
}

std::optional<std::uint32_t> AstraAwareNetwork::open_ring(const MessageRing& ring) {
  if (!traffic_.has_rings() || ring.members.size() < 2 || ring.members.size() > kMostRingMembers) return std::nullopt;
  const MessageTimes times = traffic_.times(0, {.bytes = ring.bytes});
  // Each message takes time, and all of them end long before the clock does.
  const auto most = static_cast<Tick>(ring.packets.size() * kMostRingLinks) * 4;
  const Tick longest_packet = std::ranges::max(ring.packets, {}, &RingPacket::lasts).lasts;
  const Tick longest = std::max({times.delay, times.occupancy, longest_packet, Tick{1}});
  if (times.delay < 1 || longest > kLastTick / 4 / most || traffic_.now() > kLastTick / 4) return std::nullopt;
  if (!find_paths(ring)) return std::nullopt;
  const std::uint32_t index = traffic_.rings().open(ring, times);
  PathRing& opened = traffic_.rings().ring(index);
  for (std::size_t path = 0; path < paths_.size(); ++path) {
    opened.add_path();
    const std::size_t end = path + 1 < paths_.size() ? paths_[path + 1] : links_.size();
    for (std::uint32_t place = paths_[path]; place < end; ++place) {
      opened.add_link(queues_.claim(links_[place], OpenRings::number({.ring = index, .place = place})));
    }
  }
  return index;
}

void AstraAwareNetwork::enter_ring(const MessageRingMember& member) {
  PathRing& ring = traffic_.rings().ring(member.ring);
  ring.enter(member.position, traffic_.now());
  if (!ring.is_complete()) return;
  ring.compute(traffic_.now());
  for (std::uint32_t position = 0; position < ring.size(); ++position) {
    // The last message to the one that entered last may be in flight already.
    const Tick when = std::max(ring.decided(position), traffic_.now());
    ring_event(when, RingEvent::kStarts, {.ring = member.ring, .position = position});
  }
}

// Messages that entered its links meanwhile may have delayed what was expected when the event was scheduled.
std::optional<MessageRingMember> AstraAwareNetwork::on_ring_event(std::uint32_t index) {
  const OpenRings::Part part = OpenRings::part(index >> 1U);
  const MessageRingMember member{.ring = part.ring, .position = part.place};
  PathRing& ring = traffic_.rings().ring(member.ring);
  if (!ring.is_current()) ring.compute(traffic_.now());
  const Tick received = ring.received(member.position);
  if (static_cast<RingEvent>(index & 1U) == RingEvent::kStarts) {
    const Tick decided = ring.decided(member.position);
    const bool is_later = decided > traffic_.now();
    ring_event(is_later ? decided : received, is_later ? RingEvent::kStarts : RingEvent::kArrives, member);
    return std::nullopt;
  }
  if (received > traffic_.now()) {
    ring_event(received, RingEvent::kArrives, member);
    return std::nullopt;
  }
  leave_ring(member);
  return member;
}

void AstraAwareNetwork::leave_ring(const MessageRingMember& member) {
  const PathRing& ring = traffic_.rings().ring(member.ring);
  const MessageRing& shape = ring.shape();
  const std::uint32_t count = ring.size();
  const std::uint32_t before = member.position > 0 ? member.position - 1 : count - 1;
  DimensionTraffic::Message message =
      traffic_.message(shape.members[before], shape.members[member.position], {.bytes = shape.bytes});
  for (std::uint32_t place = ring.first_link_to(member.position); message.hops_left > 0; --message.hops_left) {
    const std::uint32_t link = traffic_.link_of(message);
    if (queues_.claim_of(link) == OpenRings::number({.ring = member.ring, .place = place++})) release(link);
    traffic_.arrive(message);
  }
  traffic_.rings().leave(member.ring);
}

void AstraAwareNetwork::release(std::uint32_t link) {
  const OpenRings::Part part = OpenRings::part(queues_.claim_of(link));
  const PathRing& ring = traffic_.rings().ring(part.ring);
  const auto messages = static_cast<std::int64_t>(ring.shape().packets.size());
  queues_.release(link, ring.free_at(part.place));
  queues_.carried(link, messages * ring.shape().bytes, messages * ring.times().occupancy);
}

class AstraAware final : public MessageNetworks {
 public:
  explicit AstraAware(AstraDimension shape) : shape_(shape) {}

  [[nodiscard]] std::unique_ptr<MessageNetwork> make(TickQueue& queue, NetworkEvents events,
                                                     std::span<const std::uint32_t> members) const override {
    return std::make_unique<AstraAwareNetwork>(DimensionTraffic(shape_, queue, events, Folding::kNo), members);
  }
  [[nodiscard]] std::unique_ptr<MessageNetwork> make_folded(TickQueue& queue, NetworkEvents events) const override {
    return std::make_unique<AstraAwareNetwork>(DimensionTraffic(shape_, queue, events, Folding::kYes),
                                               std::span<const std::uint32_t>());
  }
  [[nodiscard]] bool shares_links() const override { return true; }
  [[nodiscard]] Tick delay(std::span<const std::uint32_t> /*members*/,
                           const NetworkMessage& /*message*/) const override {
    CHECK(false, "the time of a message on shared links depends on the others");
    return 0;
  }
  // Groups share links with each other. Pairs whose indices differ in a bit use the links of a ring unevenly.
  [[nodiscard]] bool all_equivalent(std::span<const std::uint32_t> members,
                                    const ChunkedCollective& collective) const override {
    if (!members.empty()) return false;
    for (const ChunkPhase& phase : collective.phases) {
      if (phase.shape != PhaseShape::kWindow) return false;
      const bool pairs = std::ranges::any_of(phase.steps, [](auto& step) { return step.rule == PeerRule::kXor; });
      if (pairs && shape_.block == AstraBlock::kRing) return false;
    }
    return true;
  }

 private:
  AstraDimension shape_;
};

}  // namespace

std::unique_ptr<MessageNetworks> make_astra_aware(const AstraTopology& topology) {
  CHECK(topology.dimensions.size() == 1, "the congestion-aware network has one dimension");
  return std::make_unique<AstraAware>(topology.dimensions.front());
}

}  // namespace ringwright::network_models
