// ASTRA-sim's congestion-aware network: links that send whole messages one after another, in order of arrival.
//
// A link that starts a message at T is free at T + size / bandwidth, and the message is at the next device at T +
// latency + size / bandwidth, both rounded down. Links: to and from the switch for every rank; both directions between
// neighbours of a ring, the shorter direction (clockwise where both are equal); one per ordered pair of a full mesh.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/engine/tick_queue.h"
#include "network_models/astra/networks.h"

namespace ringwright::network_models {
namespace {

constexpr std::uint32_t kNoMessage = UINT32_MAX;

struct Travelling {
  std::uint32_t token = 0;
  std::uint32_t to = 0;
  std::uint32_t at = 0;  // the rank whose link it waits for or is on; for a switch, its second link is `to`'s
  std::uint32_t hops_left = 0;
  std::uint32_t next = kNoMessage;  // in the queue of a link, or of free records
  bool clockwise = true;
  bool at_source = true;
  std::int64_t bytes = 0;
};

struct MessageLink {
  std::uint32_t first = kNoMessage;  // waiting
  std::uint32_t last = kNoMessage;
  Tick free_at = 0;
  Tick last_arrival = -1;
  bool last_was_own = false;  // sent by the rank at the link, not passed on
  std::int64_t bytes = 0;
  Tick busy_ticks = 0;
};

// Of one hop. The times of the last size are cached, since messages that follow each other are often equal.
struct MessageTimes {
  std::int64_t bytes = -1;
  Tick delay = 0;
  Tick occupancy = 0;

  void use(const AstraDimension& shape, std::int64_t size) {
    if (size == bytes) return;
    bytes = size;
    delay = shape.delay(1, size);
    occupancy = shape.occupancy(size);
  }
};

enum class Folding : bool { kNo, kYes };

class AstraAwareNetwork final : public MessageNetwork {
 public:
  AstraAwareNetwork(const AstraDimension& shape, TickQueue& queue, NetworkEvents events,
                    std::span<const std::uint32_t> members, Folding folding)
      : shape_(shape),
        queue_(queue),
        events_(events),
        members_(members),
        folding_(folding),
        places_(folding == Folding::kYes ? 1 : shape.nodes),
        links_(link_count()) {}

  void send(const NetworkMessage& message) override {
    const std::uint32_t from = members_.empty() ? message.from : members_[message.from];
    const std::uint32_t to = members_.empty() ? message.to : members_[message.to];
    std::uint32_t index = free_;
    if (index == kNoMessage) {
      index = static_cast<std::uint32_t>(messages_.size());
      messages_.emplace_back();
    } else {
      free_ = messages_[index].next;
    }
    const std::uint32_t clockwise = to >= from ? to - from : to + shape_.nodes - from;
    messages_[index] = {.token = message.token,
                        .to = to,
                        .at = from,
                        .hops_left = shape_.hops(from, to),
                        .clockwise = clockwise <= shape_.nodes - clockwise,
                        .bytes = message.bytes};
    enter_link(index);
  }

  void on_event(std::uint32_t index) override {
    // Even: a message reaches its next device. Odd: a link is free for the next one that waits.
    if ((index & 1U) == 0) {
      arrive(index >> 1U);
      return;
    }
    MessageLink& link = links_[index >> 1U];
    const std::uint32_t message = link.first;
    link.first = messages_[message].next;
    start(index >> 1U, message);
    if (link.first != kNoMessage) wake_when_free(index >> 1U);
  }

  void prefetch(std::uint32_t index) const override {
    if ((index & 1U) == 0) {
      __builtin_prefetch(&messages_[index >> 1U]);
    } else {
      __builtin_prefetch(&links_[index >> 1U]);
    }
  }

  void reset() override {
    std::ranges::fill(links_, MessageLink());
    messages_.clear();
    free_ = kNoMessage;
    ties_ = false;
  }

  [[nodiscard]] bool met_ties() const override { return ties_; }

  [[nodiscard]] std::vector<MessageLinkUsage> busiest_links(std::size_t most) const override {
    std::vector<std::size_t> order(links_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    const std::size_t count = std::min(most, order.size());
    std::ranges::partial_sort(order, order.begin() + static_cast<std::ptrdiff_t>(count), [&](auto a, auto b) {
      return links_[a].busy_ticks != links_[b].busy_ticks ? links_[a].busy_ticks > links_[b].busy_ticks : a < b;
    });
    std::vector<MessageLinkUsage> usage;
    for (std::size_t i = 0; i < count; ++i) {
      const MessageLink& link = links_[order[i]];
      if (link.bytes > 0) usage.push_back({.name = name(order[i]), .bytes = link.bytes, .busy = link.busy_ticks});
    }
    return usage;
  }

 private:
  [[nodiscard]] std::size_t link_count() const {
    if (shape_.block == AstraBlock::kFullyConnected) return std::size_t{places_} * shape_.nodes;
    return std::size_t{places_} * 2;
  }

  // Switch: a rank's link to it, then the one back. Ring: clockwise, then the other. Mesh: by distance.
  [[nodiscard]] std::uint32_t link_of(const Travelling& message) const {
    const std::uint32_t place = folding_ == Folding::kYes ? 0 : message.at;
    switch (shape_.block) {
      case AstraBlock::kRing: return place * 2 + (message.clockwise ? 0 : 1);
      case AstraBlock::kSwitch:
        if (message.hops_left == 2) return place * 2;
        return (folding_ == Folding::kYes ? 0 : message.to) * 2 + 1;
      case AstraBlock::kFullyConnected: break;
    }
    const std::uint32_t distance =
        message.to >= message.at ? message.to - message.at : message.to + shape_.nodes - message.at;
    return place * shape_.nodes + distance;
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

  void enter_link(std::uint32_t index) {
    const std::uint32_t link_index = link_of(messages_[index]);
    MessageLink& link = links_[link_index];
    // What one rank sends at once is in the same order on every rank.
    const bool is_own = messages_[index].at_source;
    if (link.last_arrival == queue_.now() && !(is_own && link.last_was_own)) ties_ = true;
    link.last_arrival = queue_.now();
    link.last_was_own = is_own;
    if (link.first == kNoMessage && queue_.now() >= link.free_at) {
      start(link_index, index);
      return;
    }
    messages_[index].next = kNoMessage;
    if (link.first == kNoMessage) {
      link.first = index;
      wake_when_free(link_index);
    } else {
      messages_[link.last].next = index;
    }
    link.last = index;
  }

  void start(std::uint32_t link_index, std::uint32_t index) {
    MessageLink& link = links_[link_index];
    const Travelling& message = messages_[index];
    times_.use(shape_, message.bytes);
    link.free_at = queue_.now() + times_.occupancy;
    link.bytes += message.bytes;
    link.busy_ticks += times_.occupancy;
    if (message.hops_left > 1) {
      queue_.after(times_.delay, {.kind = events_.internal, .index = index << 1U});
    } else {
      queue_.after(times_.delay, {.kind = events_.arrival, .index = message.token});
      messages_[index].next = free_;
      free_ = index;
    }
  }

  // Only links for which a message waits need an event.
  void wake_when_free(std::uint32_t link_index) {
    queue_.at(links_[link_index].free_at, {.kind = events_.internal, .index = link_index << 1U | 1U});
  }

  void arrive(std::uint32_t index) {
    Travelling& message = messages_[index];
    --message.hops_left;
    message.at_source = false;
    if (shape_.block == AstraBlock::kRing) {
      message.at = (message.at + (message.clockwise ? 1 : shape_.nodes - 1)) % shape_.nodes;
    }
    enter_link(index);
  }

  AstraDimension shape_;
  TickQueue& queue_;
  NetworkEvents events_;
  std::span<const std::uint32_t> members_;
  Folding folding_;
  std::uint32_t places_;
  std::vector<MessageLink> links_;
  std::vector<Travelling> messages_;
  std::uint32_t free_ = kNoMessage;
  bool ties_ = false;
  MessageTimes times_;
};

class AstraAware final : public MessageNetworks {
 public:
  explicit AstraAware(AstraDimension shape) : shape_(shape) {}

  [[nodiscard]] std::unique_ptr<MessageNetwork> make(TickQueue& queue, NetworkEvents events,
                                                     std::span<const std::uint32_t> members) const override {
    return std::make_unique<AstraAwareNetwork>(shape_, queue, events, members, Folding::kNo);
  }
  [[nodiscard]] std::unique_ptr<MessageNetwork> make_folded(TickQueue& queue, NetworkEvents events) const override {
    return std::make_unique<AstraAwareNetwork>(shape_, queue, events, std::span<const std::uint32_t>(), Folding::kYes);
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
